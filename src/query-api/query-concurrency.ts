// Fair concurrency limit. Each project has a bounded queue of its own. A place that becomes free
// goes to the waiting owner with the fewest running tasks, and among equals to the one that was
// served longest ago; of the owner's projects, one is chosen in the same way (max-min fairness,
// then round robin). The last free place is reserved for projects that run nothing, so one project
// alone cannot hold all of them.
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';

/** Releases the place. Idempotent. */
export type Leave = () => void;

/** For whom a task runs. */
export interface TaskOwner {
  readonly projectId: ProjectId;
  /** The same for all projects of one owner. */
  readonly ownerId: string;
}

export interface QueryConcurrencyLimits {
  /** Places of all projects together. */
  readonly concurrency: number;
  readonly perProjectMax: number;
  /** Maximum number of waiting tasks per project. */
  readonly queueMax: number;
}

interface Owner {
  readonly id: string;
  running: number;
  /** Number of its last turn. */
  turn: number;
  /** Number of its projects with tasks here. */
  projects: number;
}

interface ProjectQueue {
  readonly owner: Owner;
  running: number;
  /** In order of arrival; a Set, because aborted waiters leave from the middle. */
  readonly waiting: Set<() => void>;
}

export class QueryConcurrency {
  readonly #limits: QueryConcurrencyLimits;
  /** In the order of service: a project that gets or releases a place moves to the end. */
  readonly #queues = new Map<ProjectId, ProjectQueue>();
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #turns = 0;

  constructor(limits: QueryConcurrencyLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when the project gets a place. Rejects at once when its queue is full, and with the
   * signal's reason when it is aborted while waiting.
   */
  async enter(of: TaskOwner, signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted();
    const queue = this.#queues.get(of.projectId);
    const isFirst = queue === undefined || queue.waiting.size === 0;
    return isFirst && this.#mayRun(queue) ? this.#occupy(of) : this.#waitForPlace(of, signal);
  }

  /** A place if one is free for the project right now. */
  tryEnter(of: TaskOwner): Leave | undefined {
    return this.#mayRun(this.#queues.get(of.projectId)) ? this.#occupy(of) : undefined;
  }

  /** Running and waiting tasks of the project. */
  demandOf(projectId: ProjectId): number {
    const queue = this.#queues.get(projectId);
    return queue === undefined ? 0 : queue.running + queue.waiting.size;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.waiting.size, 0);
  }

  /** Number of projects with tasks here. */
  get projects(): number {
    return this.#queues.size;
  }

  #mayRun(queue: ProjectQueue | undefined): boolean {
    const free = this.#limits.concurrency - this.#running;
    const own = queue?.running ?? 0;
    return own === 0 ? free > 0 : free > 1 && own < this.#limits.perProjectMax;
  }

  #occupy(of: TaskOwner): Leave {
    const { projectId } = of;
    const queue = this.#queueOf(of);
    this.#moveToEnd(projectId, queue);
    this.#running++;
    queue.running++;
    queue.owner.running++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#running--;
      queue.running--;
      queue.owner.running--;
      this.#moveToEnd(projectId, queue);
      this.#forgetIdle(projectId, queue);
      this.#admitWaiting();
    };
  }

  #waitForPlace(of: TaskOwner, signal: AbortSignal): Promise<Leave> {
    const queue = this.#queueOf(of);
    if (queue.waiting.size >= this.#limits.queueMax) {
      this.#forgetIdle(of.projectId, queue);
      return Promise.reject(tooMany(queue, this.#limits));
    }
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        queue.waiting.delete(admit);
        this.#forgetIdle(of.projectId, queue);
        reject(signal.reason);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', abandon);
        queue.waiting.delete(admit);
        resolve(this.#occupy(of));
      };
      queue.waiting.add(admit);
      signal.addEventListener('abort', abandon, { once: true });
    });
  }

  #admitWaiting(): void {
    for (;;) {
      let next: ProjectQueue | undefined;
      for (const queue of this.#queues.values()) {
        const isEligible = queue.waiting.size > 0 && this.#mayRun(queue);
        if (isEligible && (next === undefined || compareQueues(queue, next) < 0)) next = queue;
      }
      const [admit] = next?.waiting ?? [];
      if (admit === undefined) return;
      admit();
    }
  }

  #queueOf({ projectId, ownerId }: TaskOwner): ProjectQueue {
    const found = this.#queues.get(projectId);
    if (found !== undefined) return found;
    const owner = this.#ownerOf(ownerId);
    owner.projects++;
    const queue = { owner, running: 0, waiting: new Set<() => void>() };
    this.#queues.set(projectId, queue);
    return queue;
  }

  #ownerOf(ownerId: string): Owner {
    const found = this.#owners.get(ownerId) ?? { id: ownerId, running: 0, turn: ++this.#turns, projects: 0 };
    this.#owners.set(ownerId, found);
    return found;
  }

  #moveToEnd(projectId: ProjectId, queue: ProjectQueue): void {
    this.#queues.delete(projectId);
    this.#queues.set(projectId, queue);
    queue.owner.turn = ++this.#turns;
  }

  #forgetIdle(projectId: ProjectId, queue: ProjectQueue): void {
    if (queue.running > 0 || queue.waiting.size > 0) return;
    const { owner } = queue;
    this.#queues.delete(projectId);
    owner.projects--;
    if (owner.projects === 0) this.#owners.delete(owner.id);
  }
}

/** Of equal ones, the first in the order of service stays. */
const compareQueues = (a: ProjectQueue, b: ProjectQueue): number =>
  a.owner.running - b.owner.running || a.owner.turn - b.owner.turn || a.running - b.running;

const tooMany = (queue: ProjectQueue, { queueMax }: QueryConcurrencyLimits): PublicError =>
  new PublicError(
    'rate_limited',
    `too many queries of this project at once: ${queue.running} run and ${queue.waiting.size} wait ` +
      `(limit: ${queueMax} waiting); try again in a minute`,
  );
