// Profiles in PostgreSQL, the source of truth. Changing a profile, or a mapping to its user,
// requires its row lock; several are locked in key order. Every change adds its outbox entry in the
// same transaction.
import { groupBy } from '../platform/group-by.js';
import type { Postgres, Transaction } from '../platform/postgres/client.js';
import {
  currentState,
  type ProfileHistory,
  type ProfileOperation,
  type ProfileState,
  timeOf,
} from './profile-history.js';
import { emailOf, type Properties, type PropertyOps } from './property-ops.js';
import type { PropertyTimes } from './timed-properties.js';

export interface ProfileKey {
  readonly projectId: string;
  readonly userId: string;
}

export interface StoredProfile extends ProfileKey {
  readonly history: ProfileHistory;
}

/** Initial state of a history as JSON; empty for none. */
interface StateJson {
  readonly properties?: Properties;
  /** Missing in those from before November 2026. */
  readonly times?: PropertyTimes;
  readonly first_seen?: number;
  readonly last_seen?: number;
}

interface ProfileRow {
  readonly project_id: string;
  readonly user_id: string;
  readonly properties: Properties;
  readonly times: PropertyTimes;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly checkpoint: StateJson | null;
  readonly checkpoint_seq: string;
}

/** As far as it is read while it is locked. */
interface LockedProfile extends Omit<ProfileRow, 'properties' | 'times' | 'checkpoint'> {
  /** Null when operations may be pending; `new` when the profile was created for the lock. */
  readonly state: 'new' | 'settled' | null;
  /** The first `SMALL_LENGTH + 1` characters of the JSON, of `times` too. */
  readonly properties: string;
  readonly times: string;
}

interface OperationRow {
  readonly project_id: string;
  readonly user_id: string;
  readonly seq: string;
  readonly operation: PropertyOps;
}

const toKeyJson = (keys: readonly ProfileKey[]): string =>
  JSON.stringify(keys.map(({ projectId, userId }) => ({ project_id: projectId, user_id: userId })));

/** Characters of the JSON of a profile that is read while it is locked: hardly any has more. */
const SMALL_LENGTH = 8192;

const KEYS = 'jsonb_to_recordset(?::jsonb) AS k(project_id uuid, user_id text)';

/**
 * Locks the profiles and creates missing ones. Returns fewer when one was deleted concurrently: the
 * transaction must then be retried.
 */
export async function lockProfiles(trx: Transaction, keys: readonly ProfileKey[]): Promise<readonly LockedProfile[]> {
  const json = toKeyJson(keys);
  await trx.raw(
    `INSERT INTO profiles (project_id, user_id, properties, first_seen, last_seen, version, checkpoint, checkpoint_seq)
     SELECT project_id, user_id, '{}', 'epoch', 'epoch', 0, '{}', 0 FROM ${KEYS} ORDER BY project_id, user_id
     ON CONFLICT DO NOTHING`,
    [json],
  );
  return lockExistingProfiles(trx, json);
}

/** Deletes those that were created for a lock and not saved. */
export async function deleteUnsavedProfiles(trx: Transaction, keys: readonly ProfileKey[]): Promise<void> {
  await trx.raw(
    `DELETE FROM profiles p USING ${KEYS} WHERE p.project_id = k.project_id AND p.user_id = k.user_id AND p.version = 0`,
    [toKeyJson(keys)],
  );
}

async function lockExistingProfiles(trx: Transaction, keyJson: string): Promise<readonly LockedProfile[]> {
  const { rows } = await trx.raw<{ rows: LockedProfile[] }>(
    `SELECT p.project_id, p.user_id, p.first_seen, p.last_seen, p.checkpoint_seq,
       CASE WHEN p.version = 0 THEN 'new' WHEN p.checkpoint IS NULL THEN 'settled' END AS state,
       left(p.properties::text, ${SMALL_LENGTH + 1}) AS properties, left(p.times::text, ${SMALL_LENGTH + 1}) AS times
     FROM profiles p JOIN ${KEYS} USING (project_id, user_id)
     ORDER BY p.project_id, p.user_id FOR UPDATE OF p`,
    [keyJson],
  );
  return rows;
}

/**
 * As many of these profiles as have `bytesMax` together, as the text that PostgreSQL sends; at
 * least one. Each project has the same share, and its small profiles come first. The index, not a
 * join, finds pending operations, because hardly any profile has some.
 */
const FITTING_PROFILES = `
WITH sized AS (
  SELECT p.project_id, p.user_id,
    octet_length(p.properties::text) + octet_length(p.times::text) + CASE WHEN p.checkpoint IS NULL THEN 0 ELSE
      octet_length(p.checkpoint::text) + (
        SELECT coalesce(sum(octet_length(o.operation::text)), 0) FROM profile_operations o
        WHERE o.project_id = p.project_id AND o.user_id = p.user_id
      ) END AS bytes
  FROM profiles p JOIN ${KEYS} USING (project_id, user_id)
), turns AS (
  SELECT *, sum(bytes) OVER (PARTITION BY project_id ORDER BY bytes, user_id) AS turn FROM sized
), totals AS (
  SELECT *, sum(bytes) OVER by_turn AS total, row_number() OVER by_turn AS place
  FROM turns WINDOW by_turn AS (ORDER BY turn, project_id, user_id)
)
SELECT p.project_id, p.user_id, p.properties, p.times, p.first_seen, p.last_seen, p.checkpoint, p.checkpoint_seq
FROM totals JOIN profiles p USING (project_id, user_id) WHERE total <= ? OR place = 1`;

/** Reads locked profiles, as many as fit. */
export async function readLockedProfiles(
  trx: Transaction,
  locked: readonly LockedProfile[],
  { bytesMax }: { readonly bytesMax: number },
): Promise<StoredProfile[]> {
  const isRead = locked.length * SMALL_LENGTH <= bytesMax ? isSmall : () => false;
  const [small, others] = [locked.filter(isRead), locked.filter((row) => !isRead(row))];
  const fitting = await readFitting(trx, others, bytesMax - small.length * SMALL_LENGTH);
  return [...small.map(toSmallProfile), ...fitting];
}

const isSmall = ({ state, properties, times }: LockedProfile): boolean =>
  state !== null && properties.length + times.length <= SMALL_LENGTH;

const toSmallProfile = ({ state, properties, times, ...row }: LockedProfile): StoredProfile => ({
  projectId: row.project_id,
  userId: row.user_id,
  history: {
    checkpoint:
      state === 'new' ? undefined : toState({ ...row, properties: JSON.parse(properties), times: JSON.parse(times) }),
    checkpointSeq: Number(row.checkpoint_seq),
    tail: [],
  },
});

/**
 * A separate statement from the one that waited for the locks, which reads other tables from its
 * older snapshot.
 */
async function readFitting(
  trx: Transaction,
  locked: readonly LockedProfile[],
  bytesMax: number,
): Promise<StoredProfile[]> {
  if (locked.length === 0) return [];
  const keys = locked.map((row) => ({ projectId: row.project_id, userId: row.user_id }));
  const { rows } = await trx.raw<{ rows: ProfileRow[] }>(FITTING_PROFILES, [toKeyJson(keys), bytesMax]);
  const tails = await loadTails(
    trx,
    rows.filter(({ checkpoint }) => checkpoint !== null),
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    userId: row.user_id,
    history: {
      checkpoint: row.checkpoint === null ? toState(row) : fromStateJson(row.checkpoint),
      checkpointSeq: Number(row.checkpoint_seq),
      tail: tails.get(keyOf(row)) ?? [],
    },
  }));
}

const keyOf = (row: { project_id: string; user_id: string }): string => `${row.project_id}/${row.user_id}`;

async function loadTails(
  trx: Transaction,
  profiles: readonly ProfileRow[],
): Promise<ReadonlyMap<string, readonly ProfileOperation[]>> {
  if (profiles.length === 0) return new Map();
  const keys = toKeyJson(profiles.map((row) => ({ projectId: row.project_id, userId: row.user_id })));
  const { rows } = await trx.raw<{ rows: OperationRow[] }>(
    `SELECT o.project_id, o.user_id, o.seq, o.operation
     FROM profile_operations o JOIN ${KEYS} USING (project_id, user_id) ORDER BY o.seq`,
    [keys],
  );
  const tails = [...groupBy(rows, keyOf)];
  return new Map(
    tails.map(([key, tail]) => [key, tail.map(({ seq, operation }) => ({ seq: Number(seq), ops: operation }))]),
  );
}

const toState = (row: Omit<ProfileRow, 'checkpoint' | 'checkpoint_seq'>): ProfileState => ({
  properties: row.properties,
  times: row.times,
  firstSeen: row.first_seen.getTime(),
  lastSeen: row.last_seen.getTime(),
});

const fromStateJson = ({ properties, times = {}, first_seen, last_seen }: StateJson): ProfileState | undefined =>
  properties === undefined || first_seen === undefined || last_seen === undefined
    ? undefined
    : { properties, times, firstSeen: first_seen, lastSeen: last_seen };

const toStateJson = (state: ProfileState | undefined): StateJson =>
  state === undefined
    ? {}
    : { properties: state.properties, times: state.times, first_seen: state.firstSeen, last_seen: state.lastSeen };

/** Saves locked profiles, each with at least one operation, and adds their outbox entries. */
export async function saveProfiles(trx: Transaction, profiles: readonly StoredProfile[]): Promise<void> {
  if (profiles.length === 0) return;
  await trx.raw(
    `WITH saved AS (
       UPDATE profiles p
       SET properties = s.properties, times = s.times, email = s.email, email_domain = s.email_domain, first_seen = s.first_seen,
           last_seen = s.last_seen, checkpoint = s.checkpoint, checkpoint_seq = s.checkpoint_seq,
           version = nextval('identity_version')
       FROM jsonb_to_recordset(?::jsonb) AS s(project_id uuid, user_id text, properties jsonb, times jsonb, email text,
         email_domain text, first_seen timestamptz, last_seen timestamptz, checkpoint jsonb, checkpoint_seq bigint)
       WHERE p.project_id = s.project_id AND p.user_id = s.user_id
       RETURNING p.project_id, p.user_id
     )
     INSERT INTO identity_outbox (project_id, kind, key) SELECT project_id, 'profile', user_id FROM saved`,
    [JSON.stringify(profiles.map(toProfileJson))],
  );
  await saveTails(trx, profiles);
}

function toProfileJson({ projectId, userId, history }: StoredProfile): object {
  const state = currentState(history);
  if (state === undefined) throw new Error('a profile without an operation cannot be stored');
  const { email, emailDomain } = emailOf(state.properties);
  return {
    project_id: projectId,
    user_id: userId,
    properties: state.properties,
    times: state.times,
    email,
    email_domain: emailDomain,
    first_seen: new Date(state.firstSeen).toISOString(),
    last_seen: new Date(state.lastSeen).toISOString(),
    ...(history.tail.length > 0 && { checkpoint: toStateJson(history.checkpoint) }),
    checkpoint_seq: history.checkpointSeq,
  };
}

/** Inserts new tail operations and deletes those that the checkpoints contain. */
async function saveTails(trx: Transaction, profiles: readonly StoredProfile[]): Promise<void> {
  const operations = profiles.flatMap(({ projectId, userId, history }) =>
    history.tail.map(({ seq, ops }) => ({ project_id: projectId, user_id: userId, seq, operation: ops })),
  );
  if (operations.length > 0) {
    await trx.raw(
      `INSERT INTO profile_operations (project_id, user_id, seq, operation)
       SELECT project_id, user_id, seq, operation
       FROM jsonb_to_recordset(?::jsonb) AS o(project_id uuid, user_id text, seq bigint, operation jsonb)
       ON CONFLICT DO NOTHING`,
      [JSON.stringify(operations)],
    );
  }
  await trx.raw(
    `DELETE FROM profile_operations o
     USING profiles p JOIN ${KEYS} USING (project_id, user_id)
     WHERE o.project_id = p.project_id AND o.user_id = p.user_id AND o.seq <= p.checkpoint_seq`,
    [toKeyJson(profiles)],
  );
}

const SETTLED_AT_A_TIME = 5000;

/**
 * Folds the tails below the low watermark into their checkpoints. Resolves with the number of
 * settled profiles.
 */
export async function settleProfiles(postgres: Postgres, watermark: number): Promise<number> {
  return postgres.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { project_id: string; user_id: string }[] }>(
      `SELECT p.project_id, p.user_id FROM profiles p
       WHERE (p.project_id, p.user_id) IN (
         SELECT project_id, user_id FROM profile_operations
         GROUP BY project_id, user_id HAVING max(seq) < ? LIMIT ${SETTLED_AT_A_TIME}
       )
       FOR UPDATE SKIP LOCKED`,
      [watermark],
    );
    await trx.raw(
      `WITH settled AS (
         UPDATE profiles p SET checkpoint = NULL, checkpoint_seq = o.seq
         FROM (
           SELECT project_id, user_id, max(seq) AS seq
           FROM profile_operations JOIN ${KEYS} USING (project_id, user_id)
           GROUP BY project_id, user_id HAVING max(seq) < ?
         ) o
         WHERE p.project_id = o.project_id AND p.user_id = o.user_id
         RETURNING p.project_id, p.user_id
       )
       DELETE FROM profile_operations o USING settled s WHERE o.project_id = s.project_id AND o.user_id = s.user_id`,
      [JSON.stringify(rows), watermark],
    );
    return rows.length;
  });
}

export interface Forgotten {
  readonly profiles: number;
  readonly mappings: number;
  /** Devices mapped to the user. Their events without a user id belong to the user. */
  readonly devices: readonly string[];
}

interface Erased {
  readonly projectId: string;
  readonly userId: string;
  /** Sequence number of the erasure; nothing below it is pending. */
  readonly throughSeq: number;
  /** An earlier call has committed: the profile that is left is that of a new person. */
  readonly isRepeated?: boolean;
}

/**
 * Deletes the effects of the user's calls up to a sequence number; later calls make a new person.
 * Idempotent.
 */
export async function forgetUser(
  trx: Transaction,
  { projectId, userId, throughSeq, isRepeated = false }: Erased,
): Promise<Forgotten> {
  const keys = [{ projectId, userId }];
  const locked = await lockExistingProfiles(trx, toKeyJson(keys));
  const [profile] = await readLockedProfiles(trx, locked, { bytesMax: 0 });
  const devices = await devicesOf(trx, { projectId, userId, atSeq: throughSeq });
  const profiles = profile === undefined || isRepeated ? 0 : await forgetProfile(trx, profile, throughSeq);
  // Delete older mappings of these devices too: they must not become effective again.
  const { rows } = await trx.raw<{ rows: { device_id: string }[] }>(
    `DELETE FROM device_mappings WHERE project_id = ? AND seq <= ? AND (user_id = ? OR device_id = ANY(?::text[]))
     RETURNING device_id`,
    [projectId, throughSeq, userId, [...devices]],
  );
  // Waits for a running projection of these entries.
  await trx.raw(
    `DELETE FROM identity_outbox o
     WHERE o.project_id = ? AND o.kind = 'mapping' AND o.key = ANY(?::text[]) AND NOT EXISTS (
       SELECT FROM device_mappings m WHERE m.project_id = o.project_id AND m.device_id = o.key
     )`,
    [projectId, rows.map(({ device_id }) => device_id)],
  );
  return { profiles, mappings: rows.length, devices };
}

/** Resolves with 1 when the profile had operations to delete, else 0. */
async function forgetProfile(
  trx: Transaction,
  { projectId, userId, history }: StoredProfile,
  throughSeq: number,
): Promise<number> {
  const isPast = history.checkpointSeq >= throughSeq;
  if (isPast && (currentState(history)?.firstSeen ?? 0) >= timeOf(throughSeq)) return 0;
  // A checkpoint that contains calls before and after the number exists only when Redis has lost
  // its pending list. Delete it whole: keeping erased calls would be worse than losing later ones.
  const tail = history.tail.filter(({ seq }) => seq > throughSeq);
  if (tail.length > 0) {
    await saveProfiles(trx, [
      {
        projectId,
        userId,
        history: { checkpoint: undefined, checkpointSeq: Math.max(throughSeq, history.checkpointSeq), tail },
      },
    ]);
    return tail.length < history.tail.length || history.checkpoint !== undefined ? 1 : 0;
  }
  const key = [projectId, userId];
  await trx.raw('DELETE FROM profile_operations WHERE project_id = ? AND user_id = ?', key);
  await trx.raw('DELETE FROM profiles WHERE project_id = ? AND user_id = ?', key);
  await trx.raw("DELETE FROM identity_outbox WHERE project_id = ? AND kind = 'profile' AND key = ?", key);
  return 1;
}

/** Devices whose latest mapping up to a sequence number is to the user. */
export async function devicesOf(
  trx: Transaction | Postgres,
  { projectId, userId, atSeq }: { projectId: string; userId: string; atSeq: number },
): Promise<string[]> {
  const { rows } = await trx.raw<{ rows: { device_id: string }[] }>(
    `SELECT m.device_id FROM device_mappings m
     WHERE m.project_id = ? AND m.user_id = ? AND m.seq <= ? AND NOT EXISTS (
       SELECT FROM device_mappings n
       WHERE n.project_id = m.project_id AND n.device_id = m.device_id AND n.seq > m.seq AND n.seq <= ?
     )
     ORDER BY m.device_id`,
    [projectId, userId, atSeq, atSeq],
  );
  return rows.map(({ device_id }) => device_id);
}
