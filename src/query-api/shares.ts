// One query's share of the process and of the engine: a place among the queries that run, memory
// and threads. Everything is bounded per project, so that one project's queries together cannot
// exhaust what the others need.
//
// Memory: every query may use `memoryBytes / concurrency`. A few at a time (`largeMax`) may use all
// of `memoryBytes`: the ones that find such a permit free when they start, and the ones that
// exceeded their part and wait for a permit. So a query that fits into `memoryBytes` is answered,
// and all queries of a process together stay below (1 + largeMax) * memoryBytes.
import type { ProjectId } from '../platform/ids.js';
import { type Leave, QueryConcurrency, type QueryConcurrencyLimits, type TaskOwner } from './query-concurrency.js';

/** Engine limits of one statement. */
export interface EngineShare {
  readonly memoryBytes: number;
  /** Undefined leaves it to ClickHouse. */
  readonly threads: number | undefined;
  /** Linux nice value of its threads. ClickHouse without CAP_SYS_NICE ignores it. */
  readonly niceValue: number;
}

export interface QueryShare {
  /** Depends on how many queries of the project run and wait now. */
  current(): EngineShare;
  /**
   * Resolves with true once the query may use more memory, or with false when it has the maximum
   * already.
   */
  raiseMemory(signal: AbortSignal): Promise<boolean>;
  /** Releases everything. */
  leave(): void;
}

export interface QueryShares {
  /** Rejects like QueryConcurrency.enter. */
  enter(of: TaskOwner, signal: AbortSignal): Promise<QueryShare>;
  /** Whether no query of the project runs or waits. */
  isIdle(projectId: ProjectId): boolean;
  readonly running: number;
  readonly waiting: number;
  readonly projects: number;
}

export interface ShareLimits extends QueryConcurrencyLimits {
  /** Memory of one query. */
  readonly memoryBytes: number;
  /** Threads that the queries of a project share; each gets at least one. */
  readonly threads: () => Promise<number | undefined>;
}

const PLACES_PER_LARGE_QUERY = 8;
// At this value a query gets a tenth of the CPU time of one with 0 on the same core.
const CROWD_NICE_VALUE = 10;

const largeMaxOf = (concurrency: number): number => Math.max(1, Math.floor(concurrency / PLACES_PER_LARGE_QUERY));

export function createQueryShares(limits: ShareLimits): QueryShares {
  const places = new QueryConcurrency(limits);
  const largeMax = largeMaxOf(limits.concurrency);
  // Only queries that hold a place wait here, so the queue needs no limit.
  const largePermits = new QueryConcurrency({
    concurrency: largeMax,
    perProjectMax: largeMax,
    queueMax: limits.concurrency,
  });
  return {
    enter: async (of, signal) => {
      const leave = await places.enter(of, signal);
      const release = largePermits.tryEnter(of);
      const threads = await limits.threads();
      return toShare({ of, limits, places, largePermits, threads }, { leave, release });
    },
    isIdle: (projectId) => places.demandOf(projectId) === 0,
    get running() {
      return places.running;
    },
    get waiting() {
      return places.waiting;
    },
    get projects() {
      return places.projects;
    },
  };
}

interface ShareContext {
  readonly of: TaskOwner;
  readonly limits: ShareLimits;
  readonly places: QueryConcurrency;
  readonly largePermits: QueryConcurrency;
  readonly threads: number | undefined;
}

function toShare(context: ShareContext, held: { leave: Leave; release: Leave | undefined }): QueryShare {
  const { of, limits, places, largePermits, threads } = context;
  let release = held.release;
  return {
    current: () => {
      const siblings = Math.min(places.demandOf(of.projectId), limits.perProjectMax);
      return {
        memoryBytes: release ? limits.memoryBytes : Math.floor(limits.memoryBytes / limits.concurrency),
        threads: threads === undefined ? undefined : Math.max(1, Math.floor(threads / siblings)),
        niceValue: siblings > 1 ? CROWD_NICE_VALUE : 0,
      };
    },
    raiseMemory: async (signal) => {
      if (release) return false;
      release = await largePermits.enter(of, signal);
      return true;
    },
    leave: () => {
      release?.();
      held.leave();
    },
  };
}
