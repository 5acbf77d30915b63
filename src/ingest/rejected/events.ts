// Buffers rejected events and ignored fields off the hot path: they are collected in memory and
// saved once a second, so that the cost does not grow with the number of events.
import { DelayedWrite } from '../../platform/flow/delayed-write.js';
import type { ProjectId } from '../../platform/ids.js';
import type { Logger } from '../../platform/log.js';
import type { SkipReason } from '../skip-reasons.js';
import type { IgnoringRoute } from './ignored-fields.js';
import { toSample } from './sample.js';
import {
  FIELDS_KEPT,
  type IgnoredField,
  type RejectedCount,
  type RejectedNotes,
  type RejectedSample,
  SAMPLES_KEPT,
} from './store.js';

const WRITE_EVERY_MS = 1000;
/**
 * Samples that wait between two writes, of all projects together; each project that has some may
 * add its part of them.
 */
const SAMPLES_WAITING_MAX = 200;
/** The same of ignored fields. */
const IGNORED_WAITING_MAX = 1000;

export interface RejectedEvent {
  readonly reason: SkipReason;
  /** The raw event. */
  readonly event: unknown;
  /** The sample, when the event itself stayed in a thread. */
  readonly sample?: string;
}

export class RejectedEvents {
  readonly #save: (rejected: RejectedNotes) => Promise<void>;
  readonly #log: Logger;
  #counts = new Map<string, RejectedCount>();
  /** By project, as the ignored fields. */
  #samples = new Map<ProjectId, RejectedSample[]>();
  #ignored = new Map<ProjectId, Map<string, IgnoredField>>();
  readonly #delayed = new DelayedWrite(WRITE_EVERY_MS, () => this.#write());

  constructor(save: (rejected: RejectedNotes) => Promise<void>, log: Logger) {
    this.#save = save;
    this.#log = log;
  }

  /** `at` is when the request arrived, in milliseconds. */
  note(projectId: ProjectId, rejected: readonly RejectedEvent[], at: number): void {
    if (rejected.length === 0) return;
    for (const { reason } of rejected) {
      const key = `${projectId}:${reason}`;
      this.#counts.set(key, { projectId, reason, events: 1 + (this.#counts.get(key)?.events ?? 0) });
    }
    const waiting = this.#samples.get(projectId) ?? [];
    const part = partOf(this.#samples, waiting.length, { each: SAMPLES_KEPT, all: SAMPLES_WAITING_MAX });
    for (const { reason, event, sample } of rejected.slice(0, Math.max(0, part - waiting.length))) {
      waiting.push({ projectId, reason, at, event: sample ?? toSample(event) });
    }
    if (waiting.length > 0) this.#samples.set(projectId, waiting);
    this.#delayed.schedule();
  }

  /** `fields` are those of one request. */
  noteIgnored(projectId: ProjectId, route: IgnoringRoute, fields: readonly string[], at: number): void {
    if (fields.length === 0) return;
    const waiting = this.#ignored.get(projectId) ?? new Map<string, IgnoredField>();
    const part = partOf(this.#ignored, waiting.size, { each: FIELDS_KEPT, all: IGNORED_WAITING_MAX });
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
    const rejected = { counts: [...this.#counts.values()], samples: [...this.#samples.values()].flat(), ignored };
    this.#counts = new Map();
    this.#samples = new Map();
    this.#ignored = new Map();
    await this.#save(rejected).catch((err: unknown) => this.#log.warn({ err }, 'rejected events were not noted'));
  }
}

/** What a project may have waiting, of which `own` wait already. */
function partOf(
  ofProjects: ReadonlyMap<ProjectId, unknown>,
  own: number,
  max: { readonly each: number; readonly all: number },
): number {
  const projects = ofProjects.size + (own === 0 ? 1 : 0);
  return Math.min(max.each, Math.floor(max.all / projects));
}
