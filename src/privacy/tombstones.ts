// Erasure tombstones in Redis: events of a person accepted up to a time must not be stored. Ingest
// workers read the version with every job, at no extra cost, and the list only when the version has
// changed. People are identified by keyed hashes; PostgreSQL holds the same list, and restores it
// when Redis loses it.
import { createHash } from 'node:crypto';
import type { Envelope } from '../ingest/envelope.js';
import { deleteFirstSeenTimes } from '../ingest/first-seen-times.js';
import { removeEvents } from '../ingest/insert/remove-events.js';
import type { AcceptedEvent } from '../ingest/insert/replay-events.js';
import type { Redis } from '../platform/redis/client.js';
import { executed } from '../platform/redis/transaction.js';
import type { HashId, IdKind } from './id-hash.js';

export interface Tombstone {
  readonly projectId: string;
  /** `project`: everyone in a deleted project; its hash is empty. */
  readonly kind: IdKind | 'project';
  readonly idHash: string;
  /** Events received up to this time, in milliseconds, are dropped. */
  readonly erasedThroughMs: number;
}

const LIST = 'privacy:forgotten';
const WHOLE_PROJECT = 'project:';
/** Set while there is any tombstone; changes with the list. */
export const TOMBSTONE_VERSION = 'privacy:forgotten:version';

/**
 * Replaces the list unless it has another version than `ARGV[1]` by now. A version is empty where
 * there is no list.
 */
const REPLACE = `
if (redis.call('get', KEYS[2]) or '') ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1], KEYS[2])
if ARGV[2] == '' then return 1 end
for field, through in pairs(cjson.decode(ARGV[3])) do redis.call('hset', KEYS[1], field, through) end
redis.call('set', KEYS[2], ARGV[2])
return 1`;

/**
 * Replaces the list in Redis that has the version `before`. Resolves with false when it has another
 * one by now. Does nothing when it is equal.
 */
export async function replaceTombstones(
  redis: Redis,
  before: string | null,
  tombstones: readonly Tombstone[],
): Promise<boolean> {
  const fields = tombstones.map(
    ({ projectId, kind, idHash, erasedThroughMs }) =>
      [`${projectId}:${kind}:${idHash}`, String(erasedThroughMs)] as const,
  );
  const text = fields.map(([field, through]) => `${field}=${through}`).sort();
  // A hash of the content, not a counter: after Redis loses its data, no version can recur for
  // another list.
  const version = fields.length === 0 ? '' : createHash('sha256').update(text.join('\n')).digest('base64url');
  if ((before ?? '') === version) return true;
  const list = JSON.stringify(Object.fromEntries(fields));
  return (await redis.eval(REPLACE, 2, LIST, TOMBSTONE_VERSION, before ?? '', version, list)) === 1;
}

export const readTombstoneVersion = (redis: Redis): Promise<string | null> => redis.get(TOMBSTONE_VERSION);

interface ProjectTombstones {
  latestErasedThroughMs: number;
  readonly byPerson: Map<string, number>;
}

/** Caches the list of the last version it was given. */
export class ErasureTombstones {
  readonly #redis: Redis;
  readonly #hashId: HashId;
  #version: string | null = null;
  #projects: ReadonlyMap<string, ProjectTombstones> = new Map();

  constructor(redis: Redis, hashId: HashId) {
    this.#redis = redis;
    this.#hashId = hashId;
  }

  /**
   * Removes the events of erased people from envelopes. `version` is the value of TOMBSTONE_VERSION
   * after the job started: publishing a tombstone is followed by waiting for the jobs that started
   * before.
   */
  async removeEvents(
    envelopes: readonly Envelope[],
    version: string,
  ): Promise<{ envelopes: Envelope[]; removed: AcceptedEvent[] }> {
    if (version !== this.#version) await this.#read();
    const kept: Envelope[] = [];
    const removed: AcceptedEvent[] = [];
    for (const envelope of envelopes) {
      const tombstones = this.#projects.get(envelope.header.p);
      // Nearly all requests are newer than the last erasure of their project: no hash is computed
      // for them.
      if (tombstones === undefined || envelope.header.t > tombstones.latestErasedThroughMs) {
        kept.push(envelope);
        continue;
      }
      const remaining = removeEvents(envelope, (event) => this.#isForgotten(event, tombstones.byPerson));
      if (remaining.envelope !== undefined) kept.push(remaining.envelope);
      removed.push(...remaining.removed);
    }
    await deleteFirstSeenTimes(this.#redis, removed);
    return { envelopes: kept, removed };
  }

  /** The latest time of any tombstone. */
  async latestErasedThroughMs(version: string): Promise<number> {
    if (version !== this.#version) await this.#read();
    let latest = 0;
    for (const { latestErasedThroughMs } of this.#projects.values()) latest = Math.max(latest, latestErasedThroughMs);
    return latest;
  }

  #isForgotten(event: AcceptedEvent, byPerson: ReadonlyMap<string, number>): boolean {
    if (event.receivedAt <= (byPerson.get(WHOLE_PROJECT) ?? -1)) return true;
    const kind = event.userId !== '' ? 'user' : 'device';
    const id = event.userId !== '' ? event.userId : event.deviceId;
    if (id === '') return false;
    const erasedThroughMs = byPerson.get(`${kind}:${this.#hashId({ projectId: event.projectId, kind, id })}`);
    return erasedThroughMs !== undefined && event.receivedAt <= erasedThroughMs;
  }

  async #read(): Promise<void> {
    const read = this.#redis.multi().get(TOMBSTONE_VERSION).hgetall(LIST);
    const [version, list] = (await executed(read)) as [string | null, Record<string, string>];
    this.#projects = byProject(list);
    this.#version = version;
  }
}

function byProject(list: Readonly<Record<string, string>>): Map<string, ProjectTombstones> {
  const projects = new Map<string, ProjectTombstones>();
  for (const [field, text] of Object.entries(list)) {
    const at = field.indexOf(':');
    const erasedThroughMs = Number(text);
    const known = projects.get(field.slice(0, at)) ?? { latestErasedThroughMs: 0, byPerson: new Map() };
    known.byPerson.set(field.slice(at + 1), erasedThroughMs);
    known.latestErasedThroughMs = Math.max(known.latestErasedThroughMs, erasedThroughMs);
    projects.set(field.slice(0, at), known);
  }
  return projects;
}
