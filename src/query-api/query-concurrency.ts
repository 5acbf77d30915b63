// Fair concurrency limit. Each project has a bounded queue of its own; a place that becomes free
// goes to the waiting project with the fewest running tasks, and among equals to the one that was
// served longest ago (max-min fairness, then round robin). The last free place is reserved for
// projects that run nothing, so one project alone cannot hold all of them.
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';

/** Releases the place. Idempotent. */
export type Leave = () => void;

export interface QueryConcurrency {
  /**
   * Resolves when the project gets a place. Rejects at once when its queue is full, and with the
   * signal's reason when it is aborted while waiting.
   */
  enter(projectId: ProjectId, signal: AbortSignal): Promise<Leave>;
  /** A place if one is free for the project right now. */
  tryEnter(projectId: ProjectId): Leave | undefined;
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

interface ProjectQueue {
  running: number;
  /** In order of arrival; a Set, because aborted waiters leave from the middle. */
  readonly waiting: Set<() => void>;
}

export function createQueryConcurrency(limits: QueryConcurrencyLimits): QueryConcurrency {
  // Keys are in the order of service: a project that gets or releases a place moves to the end.
  const queues = new Map<ProjectId, ProjectQueue>();
  let running = 0;

  function queueOf(projectId: ProjectId): ProjectQueue {
    const found = queues.get(projectId) ?? { running: 0, waiting: new Set() };
    queues.set(projectId, found);
    return found;
  }

  function forgetIdle(projectId: ProjectId, queue: ProjectQueue): void {
    if (queue.running === 0 && queue.waiting.size === 0) queues.delete(projectId);
  }

  function moveToEnd(projectId: ProjectId, queue: ProjectQueue): void {
    queues.delete(projectId);
    queues.set(projectId, queue);
  }

  function mayRun(queue: ProjectQueue | undefined): boolean {
    const free = limits.concurrency - running;
    const own = queue?.running ?? 0;
    return own === 0 ? free > 0 : free > 1 && own < limits.perProjectMax;
  }

  function occupy(projectId: ProjectId): Leave {
    const queue = queueOf(projectId);
    moveToEnd(projectId, queue);
    running++;
    queue.running++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running--;
      queue.running--;
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
        if (isEligible && queue.running < (next?.running ?? Number.POSITIVE_INFINITY)) next = queue;
      }
      const [admit] = next?.waiting ?? [];
      if (admit === undefined) return;
      admit();
    }
  }

  function waitForPlace(projectId: ProjectId, signal: AbortSignal): Promise<Leave> {
    const queue = queueOf(projectId);
    if (queue.waiting.size >= limits.queueMax) {
      return Promise.reject(tooMany(queue, limits));
    }
    return new Promise((resolve, reject) => {
      const abandon = (): void => {
        queue.waiting.delete(admit);
        forgetIdle(projectId, queue);
        reject(signal.reason);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', abandon);
        queue.waiting.delete(admit);
        resolve(occupy(projectId));
      };
      queue.waiting.add(admit);
      signal.addEventListener('abort', abandon, { once: true });
    });
  }

  return {
    enter: async (projectId, signal) => {
      signal.throwIfAborted();
      const queue = queues.get(projectId);
      const isFirst = queue === undefined || queue.waiting.size === 0;
      return isFirst && mayRun(queue) ? occupy(projectId) : waitForPlace(projectId, signal);
    },
    tryEnter: (projectId) => (mayRun(queues.get(projectId)) ? occupy(projectId) : undefined),
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

const tooMany = (queue: ProjectQueue, { queueMax }: QueryConcurrencyLimits): PublicError =>
  new PublicError(
    'rate_limited',
    `too many queries of this project at once: ${queue.running} run and ${queue.waiting.size} wait ` +
      `(limit: ${queueMax} waiting); try again in a minute`,
  );
