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

export interface QueryConcurrency {
  /**
   * Resolves when the project gets a place. Rejects at once when its queue is full, and with the
   * signal's reason when it is aborted while waiting.
   */
  enter(of: TaskOwner, signal: AbortSignal): Promise<Leave>;
  /** A place if one is free for the project right now. */
  tryEnter(of: TaskOwner): Leave | undefined;
  /** Running and waiting tasks of the project. */
  demandOf(projectId: ProjectId): number;
  readonly running: number;
  readonly waiting: number;
  /** Number of projects with tasks here. */
  readonly projects: number;
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

export function createQueryConcurrency(limits: QueryConcurrencyLimits): QueryConcurrency {
  // Keys are in the order of service: a project that gets or releases a place moves to the end.
  const queues = new Map<ProjectId, ProjectQueue>();
  const owners = new Map<string, Owner>();
  let running = 0;
  let turns = 0;

  function ownerOf(ownerId: string): Owner {
    const found = owners.get(ownerId) ?? { id: ownerId, running: 0, turn: ++turns, projects: 0 };
    owners.set(ownerId, found);
    return found;
  }

  function queueOf({ projectId, ownerId }: TaskOwner): ProjectQueue {
    const found = queues.get(projectId);
    if (found !== undefined) return found;
    const owner = ownerOf(ownerId);
    owner.projects++;
    const queue = { owner, running: 0, waiting: new Set<() => void>() };
    queues.set(projectId, queue);
    return queue;
  }

  function forgetIdle(projectId: ProjectId, queue: ProjectQueue): void {
    if (queue.running > 0 || queue.waiting.size > 0) return;
    const { owner } = queue;
    queues.delete(projectId);
    owner.projects--;
    if (owner.projects === 0) owners.delete(owner.id);
  }

  function moveToEnd(projectId: ProjectId, queue: ProjectQueue): void {
    queues.delete(projectId);
    queues.set(projectId, queue);
    queue.owner.turn = ++turns;
  }

  function mayRun(queue: ProjectQueue | undefined): boolean {
    const free = limits.concurrency - running;
    const own = queue?.running ?? 0;
    return own === 0 ? free > 0 : free > 1 && own < limits.perProjectMax;
  }

  function occupy(of: TaskOwner): Leave {
    const { projectId } = of;
    const queue = queueOf(of);
    moveToEnd(projectId, queue);
    running++;
    queue.running++;
    queue.owner.running++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running--;
      queue.running--;
      queue.owner.running--;
      moveToEnd(projectId, queue);
      forgetIdle(projectId, queue);
      admitWaiting();
    };
  }

  function admitWaiting(): void {
    for (;;) {
      let next: ProjectQueue | undefined;
      for (const queue of queues.values()) {
        const isEligible = queue.waiting.size > 0 && mayRun(queue);
        if (isEligible && (next === undefined || compareQueues(queue, next) < 0)) next = queue;
      }
      const [admit] = next?.waiting ?? [];
      if (admit === undefined) return;
      admit();
    }
  }

  function waitForPlace(of: TaskOwner, signal: AbortSignal): Promise<Leave> {
    const queue = queueOf(of);
    if (queue.waiting.size >= limits.queueMax) {
      forgetIdle(of.projectId, queue);
      return Promise.reject(tooMany(queue, limits));
    }
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        queue.waiting.delete(admit);
        forgetIdle(of.projectId, queue);
        reject(signal.reason);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', abandon);
        queue.waiting.delete(admit);
        resolve(occupy(of));
      };
      queue.waiting.add(admit);
      signal.addEventListener('abort', abandon, { once: true });
    });
  }

  return {
    enter: async (of, signal) => {
      signal.throwIfAborted();
      const queue = queues.get(of.projectId);
      const isFirst = queue === undefined || queue.waiting.size === 0;
      return isFirst && mayRun(queue) ? occupy(of) : waitForPlace(of, signal);
    },
    tryEnter: (of) => (mayRun(queues.get(of.projectId)) ? occupy(of) : undefined),
    demandOf: (projectId) => {
      const queue = queues.get(projectId);
      return queue === undefined ? 0 : queue.running + queue.waiting.size;
    },
    get running() {
      return running;
    },
    get waiting() {
      return [...queues.values()].reduce((sum, queue) => sum + queue.waiting.size, 0);
    },
    get projects() {
      return queues.size;
    },
  };
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
