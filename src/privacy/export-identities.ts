// Reads the device mappings and the profiles of a project from PostgreSQL, page by page. Each line
// is a call of POST /identify/batch, with the time at which its mapping or properties were set.
import { timeOf, UNKNOWN_TIME_MS } from '../identity/profile-history.js';
import type { PropertyTimes } from '../identity/timed-properties.js';
import type { FairPlaces, Place } from '../platform/flow/fair-places.js';
import { groupBy } from '../platform/group-by.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

const MAPPINGS_PER_PAGE = 2_000;
/** A profile may have a quarter of a megabyte. */
const PROFILES_PER_PAGE = 20;
/** Redis closes a connection for which tens of megabytes wait. */
const CHUNK_LENGTH = 64 * 1024;

export interface IdentitySource {
  readonly postgres: Postgres;
  /** Every page requires a place, which it shares with exports of events. */
  readonly places: FairPlaces;
}

/** Yields whole lines, many at a time. Rejects with the reason of `signal` when it is aborted. */
export async function* exportIdentities(
  { postgres, places }: IdentitySource,
  projectId: ProjectId,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const acquire = () => places.acquire(projectId, signal);
  for await (const mappings of pages(acquire, (after) => readMappings(postgres, projectId, after))) {
    yield* toChunks(mappings.map(toMappingCall));
  }
  for await (const profiles of pages(acquire, (after) => readProfiles(postgres, projectId, after))) {
    yield* toChunks(profiles.flatMap(toProfileCalls));
  }
}

/** `read` gives the rows whose keys follow; none after the last one. */
async function* pages<T extends { readonly key: string }>(
  acquire: () => Promise<Place>,
  read: (after: string) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let after = ''; ; ) {
    const place = await acquire();
    const rows = await read(after).finally(() => place.release());
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.key;
  }
}

interface Mapping {
  /** The device. */
  readonly key: string;
  readonly user_id: string;
  /** Microseconds. */
  readonly seq: string;
}

async function readMappings(postgres: Postgres, projectId: ProjectId, after: string): Promise<readonly Mapping[]> {
  const result: { rows: Mapping[] } = await postgres.raw(
    `SELECT DISTINCT ON (device_id) device_id AS key, user_id, seq FROM device_mappings
     WHERE project_id = ? AND device_id > ? ORDER BY device_id, seq DESC LIMIT ?`,
    [projectId, after, MAPPINGS_PER_PAGE],
  );
  return result.rows;
}

interface Profile {
  /** The user. */
  readonly key: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly times: PropertyTimes;
  readonly first_seen: Date;
  readonly last_seen: Date;
}

async function readProfiles(postgres: Postgres, projectId: ProjectId, after: string): Promise<readonly Profile[]> {
  const result: { rows: Profile[] } = await postgres.raw(
    `SELECT user_id AS key, properties, times, first_seen, last_seen FROM profiles
     WHERE project_id = ? AND user_id > ? ORDER BY user_id LIMIT ?`,
    [projectId, after, PROFILES_PER_PAGE],
  );
  return result.rows;
}

const toMappingCall = ({ key, user_id, seq }: Mapping): object => ({
  user_id,
  device_id: key,
  time: toTime(timeOf(Number(seq))),
});

/**
 * One for each time at which properties were set, and for the times at which the user was first and
 * last seen.
 */
function toProfileCalls(profile: Profile): object[] {
  const { key, properties, times } = profile;
  const seen = [profile.first_seen, profile.last_seen].map((at) => toTime(at.getTime()));
  const lastSeen = profile.last_seen.getTime();
  const byTime = groupBy(Object.entries(properties), ([name]) => toTime(lastChange(times, name) ?? lastSeen));
  for (const time of seen) if (!byTime.has(time)) byTime.set(time, []);
  return [...byTime].map(([time, entries]) => ({ user_id: key, time, user_properties: Object.fromEntries(entries) }));
}

/** Epoch milliseconds; undefined when it is not known. */
function lastChange(times: PropertyTimes, name: string): number | undefined {
  const known = Object.hasOwn(times, name) ? times[name] : undefined;
  if (known === undefined || typeof known === 'number') return known === undefined ? undefined : timeOf(known);
  // Increments follow the time of the value, each with its amount: the value contains them all.
  return timeOf(known.at(known.length > 1 ? -2 : 0) ?? 0);
}

/** A value of $set_once has no time: any other value of an import replaces it. */
const toTime = (timeMs: number): string => new Date(Math.max(UNKNOWN_TIME_MS, timeMs)).toISOString();

function* toChunks(calls: readonly object[]): Generator<Buffer> {
  let lines = '';
  for (const call of calls) {
    lines += `${JSON.stringify(call)}\n`;
    if (lines.length < CHUNK_LENGTH) continue;
    yield Buffer.from(lines, 'utf8');
    lines = '';
  }
  if (lines !== '') yield Buffer.from(lines, 'utf8');
}
