// Buffers rejected events and ignored fields off the hot path: they are collected in memory and
// written to Redis once a second, so that the cost does not grow with the number of events.
import { DelayedWrite } from '../../platform/flow/delayed-write.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Logger } from '../../platform/log.js';
import type { Redis } from '../../platform/redis/client.js';
import type { SkipReason } from '../schema.js';
import type { IgnoringRoute } from './ignored-fields.js';
import { toSample } from './sample.js';
import {
  FIELDS_KEPT,
  type IgnoredField,
  type RejectedCount,
  type RejectedSample,
  SAMPLES_KEPT,
  saveRejected,
} from './store.js';

const WRITE_EVERY_MS = 1000;
/** Samples that wait between two writes, of all projects together. */
const SAMPLES_WAITING_MAX = 200;
/** The same of ignored fields; each project that has some may add its part of it. */
const IGNORED_WAITING_MAX = 1000;

export interface RejectedEvent {
  readonly reason: SkipReason;
  /** The raw event. */
  readonly event: unknown;
  /** The sample, when the event itself stayed in a thread. */
  readonly sample?: string;
}

export class RejectedEvents {
  readonly #redis: Redis;
  readonly #log: Logger;
  #counts = new Map<string, RejectedCount>();
  #samples: RejectedSample[] = [];
  /** By project. */
  #ignored = new Map<ProjectId, Map<string, IgnoredField>>();
  readonly #delayed = new DelayedWrite(WRITE_EVERY_MS, () => this.#write());

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  /** `at` is when the request arrived, in milliseconds. */
  note(projectId: ProjectId, rejected: readonly RejectedEvent[], at: number): void {
    if (rejected.length === 0) return;
    for (const { reason } of rejected) {
      const key = `${projectId}:${reason}`;
      this.#counts.set(key, { projectId, reason, events: 1 + (this.#counts.get(key)?.events ?? 0) });
    }
    const waiting = this.#samples.filter((sample) => sample.projectId === projectId).length;
    const room = Math.min(SAMPLES_KEPT - waiting, SAMPLES_WAITING_MAX - this.#samples.length);
    for (const { reason, event, sample } of rejected.slice(0, Math.max(0, room))) {
      this.#samples.push({ projectId, reason, at, event: sample ?? toSample(event) });
    }
    this.#delayed.schedule();
  }

  /** `fields` are those of one request. */
  noteIgnored(projectId: ProjectId, route: IgnoringRoute, fields: readonly string[], at: number): void {
    if (fields.length === 0) return;
    const waiting = this.#ignored.get(projectId) ?? new Map<string, IgnoredField>();
    const projects = this.#ignored.size + (waiting.size === 0 ? 1 : 0);
    const part = Math.min(FIELDS_KEPT, Math.floor(IGNORED_WAITING_MAX / projects));
    for (const field of fields) {
      const key = `${route}:${field}`;
      if (waiting.has(key) || waiting.size < part) waiting.set(key, { projectId, route, field, at });
    }
    if (waiting.size > 0) this.#ignored.set(projectId, waiting);
    this.#delayed.schedule();
  }

  /** Resolves when everything noted has been written, or the write has failed. */
  close(): Promise<void> {
    return this.#delayed.close();
  }

  async #write(): Promise<void> {
    const ignored = [...this.#ignored.values()].flatMap((waiting) => [...waiting.values()]);
    const rejected = { counts: [...this.#counts.values()], samples: this.#samples, ignored };
    this.#counts = new Map();
    this.#samples = [];
    this.#ignored = new Map();
    await saveRejected(this.#redis, rejected, Date.now()).catch((err: unknown) =>
      this.#log.warn({ err }, 'rejected events were not noted'),
    );
  }
}
