// Keeps erased people erased when their history is imported again or a dead letter is replayed: of
// such calls, drops those from before the erasure of their user, and the devices of those from
// before that of their device. A request that is not carried out yet counts too.
import type { Transaction } from '../platform/postgres/client.js';
import type { HashId, IdKind } from '../privacy/id-hash.js';
import { MICROSECONDS_PER_MS } from './profile-history.js';
import type { AcceptedIdentification } from './queue.js';

/** The calls to apply, in their order. Live calls that are applied the first time stay. */
export async function withoutErased(
  trx: Transaction,
  calls: readonly AcceptedIdentification[],
  hashId: HashId,
): Promise<readonly AcceptedIdentification[]> {
  const earlier = calls.filter((call) => timeOfCall(call) < Number.POSITIVE_INFINITY);
  if (earlier.length === 0) return calls;
  const hashOf = (kind: IdKind, { project, user, device = '' }: AcceptedIdentification): string =>
    hashId({ projectId: project, kind, id: kind === 'user' ? user : device });
  const users = await readErased(
    trx,
    ERASED_USERS,
    earlier.map((call) => toKey(call, hashOf('user', call))),
  );
  const devices = await readErased(
    trx,
    ERASED_DEVICES,
    earlier.map((call) => toKey(call, hashOf('device', call))),
  );
  if (users.size === 0 && devices.size === 0) return calls;
  const isErased = (erased: ReadonlyMap<string, number>, kind: IdKind, call: AcceptedIdentification): boolean =>
    timeOfCall(call) <= (erased.get(keyOf(toKey(call, hashOf(kind, call)))) ?? -1);
  return calls.flatMap((call) => {
    if (isErased(users, 'user', call)) return [];
    if (!isErased(devices, 'device', call)) return [call];
    const { device: _device, ...rest } = call;
    return [rest];
  });
}

/** Microseconds. Infinity for a live call that is applied the first time. */
const timeOfCall = ({ at, acceptedSeq }: AcceptedIdentification): number =>
  Math.min(at ?? Number.POSITIVE_INFINITY, acceptedSeq ?? Number.POSITIVE_INFINITY);

interface Key {
  readonly project_id: string;
  readonly hash: string;
}

const toKey = ({ project }: AcceptedIdentification, hash: string): Key => ({ project_id: project, hash });
const keyOf = ({ project_id, hash }: Key): string => `${project_id}/${hash}`;

const KEYS = 'jsonb_to_recordset(?::jsonb) AS k(project_id uuid, hash text)';
const ERASED_USERS = `
  SELECT e.project_id, e.user_hash AS hash, max(e.erased_through_seq) AS seq
  FROM erasure_requests e JOIN (SELECT DISTINCT * FROM ${KEYS}) k
    ON e.project_id = k.project_id AND e.user_hash = k.hash
  GROUP BY e.project_id, e.user_hash`;
const ERASED_DEVICES = `
  SELECT t.project_id, t.id_hash AS hash, (t.erased_through_ms + 1) * ${MICROSECONDS_PER_MS} - 1 AS seq
  FROM erasure_tombstones t JOIN (SELECT DISTINCT * FROM ${KEYS}) k
    ON t.project_id = k.project_id AND t.id_hash = k.hash
  WHERE t.kind = 'device'`;

/** The number through which each is erased. */
async function readErased(trx: Transaction, query: string, keys: readonly Key[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await trx.raw<{ rows: (Key & { seq: string })[] }>(query, [JSON.stringify(keys)]);
  return new Map(rows.map((row) => [keyOf(row), Number(row.seq)]));
}
