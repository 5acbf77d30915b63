// The tombstone of erasure in Redis: of whom, up to when, events that were already accepted must not be stored any more.
// Ingest workers read its version with every job, at no cost, and the whole only when that has changed. Whoever is in it is
// known by a keyed hash; PostgreSQL has the same list, from which a Redis that lost it is filled again.
import { createHash } from 'node:crypto';
import type { Envelope } from '../ingest/envelope.js';
import { deleteFirstSeenTimes } from '../ingest/first-seen-times.js';
import { removeEvents } from '../ingest/remove-events.js';
import type { AcceptedEvent } from '../ingest/replay-events.js';
import type { Redis } from '../platform/redis/client.js';
import type { HashId, IdKind } from './id-hash.js';

export interface Tombstone {
  readonly projectId: string;
  /** `project`: everyone of a project that was deleted; its hash is empty. */
  readonly kind: IdKind | 'project';
  readonly idHash: string;
  /** Events received up to this time, in milliseconds, are forgotten. */
  readonly erasedThroughMs: number;
}

const LIST = 'privacy:forgotten';
const WHOLE_PROJECT = 'project:';
/** There while anyone is forgotten; another value whenever the list has changed. */
export const TOMBSTONE_VERSION = 'privacy:forgotten:version';

/** Makes Redis hold exactly these. Does nothing when it does already. */
export async function writeTombstones(redis: Redis, tombstones: readonly Tombstone[]): Promise<void> {
  const fields = tombstones.map(
    ({ projectId, kind, idHash, erasedThroughMs }) => [`${projectId}:${kind}:${idHash}`, erasedThroughMs] as const,
  );
  const text = fields.map(([field, erasedThroughMs]) => `${field}=${erasedThroughMs}`).sort();
  // By content and not by counting: a version that Redis lost can never come back for another list.
  const version = fields.length === 0 ? null : createHash('sha256').update(text.join('\n')).digest('base64url');
  if ((await readTombstoneVersion(redis)) === version) return;
  const transaction = redis.multi().del(LIST, TOMBSTONE_VERSION);
  if (version !== null) transaction.hset(LIST, new Map(fields)).set(TOMBSTONE_VERSION, version);
  await transaction.exec();
}

export const readTombstoneVersion = (redis: Redis): Promise<string | null> => redis.get(TOMBSTONE_VERSION);

interface ProjectTombstones {
  latestErasedThroughMs: number;
  readonly cuts: Map<string, number>;
}

/** Knows the list as of the last version it was shown. */
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
   * The envelopes without the events of people who are forgotten. `version` is what TOMBSTONE_VERSION held after the job had
   * begun: whoever writes a tombstone then waits for the jobs that had begun before.
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
      // Nearly all requests came after the last erasure of their project: no hash is computed for them.
      if (tombstones === undefined || envelope.header.t > tombstones.latestErasedThroughMs) {
        kept.push(envelope);
        continue;
      }
      const remaining = removeEvents(envelope, (event) => this.#isForgotten(event, tombstones.cuts));
      if (remaining.envelope !== undefined) kept.push(remaining.envelope);
      removed.push(...remaining.removed);
    }
    await deleteFirstSeenTimes(this.#redis, removed);
    return { envelopes: kept, removed };
  }

  /** The latest moment up to which anybody's events are forgotten. */
  async latestErasedThroughMs(version: string): Promise<number> {
    if (version !== this.#version) await this.#read();
    return Math.max(0, ...[...this.#projects.values()].map(({ latestErasedThroughMs }) => latestErasedThroughMs));
  }

  #isForgotten(event: AcceptedEvent, cuts: ReadonlyMap<string, number>): boolean {
    if (event.receivedAt <= (cuts.get(WHOLE_PROJECT) ?? -1)) return true;
    const kind = event.userId !== '' ? 'user' : 'device';
    const id = event.userId !== '' ? event.userId : event.deviceId;
    if (id === '') return false;
    const erasedThroughMs = cuts.get(`${kind}:${this.#hashId({ projectId: event.projectId, kind, id })}`);
    return erasedThroughMs !== undefined && event.receivedAt <= erasedThroughMs;
  }

  async #read(): Promise<void> {
    const replies = await this.#redis.multi().get(TOMBSTONE_VERSION).hgetall(LIST).exec();
    if (replies === null) throw new Error('redis dropped the transaction');
    const [version, list] = replies.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    }) as [string | null, Record<string, string>];
    this.#projects = byProject(list);
    this.#version = version;
  }
}

function byProject(list: Readonly<Record<string, string>>): Map<string, ProjectTombstones> {
  const projects = new Map<string, ProjectTombstones>();
  for (const [field, text] of Object.entries(list)) {
    const at = field.indexOf(':');
    const erasedThroughMs = Number(text);
    const known = projects.get(field.slice(0, at)) ?? { latestErasedThroughMs: 0, cuts: new Map() };
    known.cuts.set(field.slice(at + 1), erasedThroughMs);
    known.latestErasedThroughMs = Math.max(known.latestErasedThroughMs, erasedThroughMs);
    projects.set(field.slice(0, at), known);
  }
  return projects;
}
