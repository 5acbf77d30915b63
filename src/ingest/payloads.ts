// Payloads of ingest jobs (claim check pattern): the envelopes of a job are stored under a Redis
// key of their own, and the job carries only the key. The bytes are also summed into the backlog of
// each project; a payload is written, replaced and deleted in one transaction with these sums, so
// that they stay exact after a crash.
import type { ChainableCommander } from 'ioredis';
import { FIRST_SHARD } from '../platform/clickhouse/shards.js';
import type { Backlog } from '../platform/flow/backlog.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { decodeEnvelopes, type Envelope, encodeEnvelopes } from './envelope.js';

const PAYLOAD_PREFIX = 'ingest:claim:';
const UUID_LENGTH = 36;

/**
 * With several shards the key names that of the job's queue, and the project of a job of one
 * project, so that both are known without reading the payload: `<uuid>[.<shard>][-<project>]`.
 */
export const newPayloadKey = ({ project, shard }: { project: string; shard: number | undefined }): string =>
  PAYLOAD_PREFIX + newUuidV7() + (shard === undefined ? '' : `.${shard}`) + (project === '' ? '' : `-${project}`);

export const payloadKeyPattern = `${PAYLOAD_PREFIX}*`;
export const jobIdOfPayload = (key: string): string => key.slice(PAYLOAD_PREFIX.length);

export const payloadOfJob = (id: string): string => PAYLOAD_PREFIX + id;

/** Undefined for jobs that may hold events of any project. */
export function projectOfJob(id: string): string | undefined {
  const at = id.indexOf('-', UUID_LENGTH);
  return at < 0 ? undefined : id.slice(at + 1);
}

/** Shard of the queue that has the job. */
export const shardOfJob = (id: string): number =>
  hasShard(id) ? Number.parseInt(id.slice(UUID_LENGTH + 1), 10) : FIRST_SHARD;

const hasShard = (id: string): boolean => id[UUID_LENGTH] === '.';

/** When the payload was written; undefined for a key that is not a payload key. */
export function payloadWrittenAt(key: string): number | undefined {
  const id = key.startsWith(PAYLOAD_PREFIX) ? jobIdOfPayload(key) : '';
  const milliseconds = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Redis hash: backlog in bytes by project, and by shard when there are several. */
const BYTES = 'ingest:backlog:bytes';
/** Redis hash: jobs in the bulk queue by project, and jobs of both queues by shard. */
const JOBS = 'ingest:backlog:jobs';

/** Each event counts as at least this many bytes, because it has a cost beside its size. */
const EVENT_BYTES_MIN = 512;

type Envelopes = readonly Envelope[];

/**
 * Bytes by project, and by shard (ownerOfShard). Where all envelopes are of one project, its share
 * is the last.
 */
export type Shares = ReadonlyMap<string, number>;

const SHARD_OWNER = 'shard:';

/** A shard has a share of the backlog, as a project has. */
export const ownerOfShard = (shard: number): string => SHARD_OWNER + shard;

export const weigh = (bytes: number, events: number): number => Math.max(bytes, events * EVENT_BYTES_MIN);

export function sharesOf(envelopes: Envelopes): Shares {
  const shares = new Map<string, number>();
  for (const { header, body } of envelopes) {
    const bytes = weigh(body.length, header.n);
    for (const owner of header.s === undefined ? [header.p] : [ownerOfShard(header.s), header.p]) {
      shares.set(owner, (shares.get(owner) ?? 0) + bytes);
    }
  }
  return shares;
}

/**
 * Adds the payload to a transaction. The reply of the last command is the backlog in bytes of the
 * last share.
 */
export function setPayload(transaction: ChainableCommander, key: string, { bytes, shares }: NewPayload): void {
  transaction.set(key, bytes);
  for (const owner of ownersOf(key)) transaction.hincrby(JOBS, owner, 1);
  for (const [id, share] of shares) transaction.hincrby(BYTES, id, share);
}

/** The project and the shard to which all of a job belongs, by the key of its payload. */
function ownersOf(key: string): string[] {
  const id = jobIdOfPayload(key);
  const project = projectOfJob(id);
  return [...(project === undefined ? [] : [project]), ...(hasShard(id) ? [ownerOfShard(shardOfJob(id))] : [])];
}

interface NewPayload {
  readonly bytes: Buffer;
  readonly shares: Shares;
}

const SUBTRACT = `
local function subtract(key, field, amount)
  if redis.call('HINCRBY', key, field, 0 - amount) <= 0 then redis.call('HDEL', key, field) end
end
`;

const DELETE = `${SUBTRACT}
if redis.call('UNLINK', KEYS[1]) == 0 then return 0 end
local owners = tonumber(ARGV[1])
for i = 2, owners + 1 do subtract(KEYS[3], ARGV[i], 1) end
for i = owners + 2, #ARGV, 2 do subtract(KEYS[2], ARGV[i], ARGV[i + 1]) end
return 1
`;

/** `shares` are those of the stored payload. Resolves with whether the payload still existed. */
export async function deletePayload(redis: Redis, key: string, shares: Shares): Promise<boolean> {
  const owners = ownersOf(key);
  return (await redis.eval(DELETE, 3, key, BYTES, JOBS, owners.length, ...owners, ...[...shares].flat())) === 1;
}

/** Deletes a payload whose envelopes have not been read, or are not readable. */
export async function discardPayload(redis: Redis, key: string): Promise<boolean> {
  const bytes = await redis.getBuffer(key);
  return bytes !== null && (await deletePayload(redis, key, sharesOf(readable(bytes))));
}

function readable(bytes: Buffer): Envelope[] {
  try {
    return decodeEnvelopes(bytes);
  } catch {
    return [];
  }
}

const REPLACE = `${SUBTRACT}
if not redis.call('SET', KEYS[1], ARGV[1], 'XX') then return end
for i = 2, #ARGV, 2 do subtract(KEYS[2], ARGV[i], ARGV[i + 1]) end
`;

/** Does nothing when the payload no longer exists, because its job has ended. */
export async function replacePayload(
  redis: Redis,
  key: string,
  { from, to }: { from: Envelopes; to: Envelopes },
): Promise<void> {
  const kept = sharesOf(to);
  const removed = [...sharesOf(from)].flatMap(([id, share]) => [id, share - (kept.get(id) ?? 0)]);
  await redis.eval(REPLACE, 2, key, BYTES, encodeEnvelopes(to), ...removed);
}

/** Backlog of every project that has one; `jobs` counts the bulk queue. Also of shards. */
export async function readBacklogs(redis: Redis): Promise<Map<string, Backlog>> {
  const [bytes, jobs] = await Promise.all([redis.hgetall(BYTES), redis.hgetall(JOBS)]);
  return new Map(Object.entries(bytes).map(([id, text]) => [id, { bytes: Number(text), jobs: Number(jobs[id] ?? 0) }]));
}
