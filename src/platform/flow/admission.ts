// Admission control of a queue: answers 429 above the high-water mark of the whole queue or above
// a project's fair share of it, before Redis runs out of memory.

import { type Backlog, BacklogEstimate, NOTHING } from './backlog.js';
import { isBeyondShare } from './fair-share.js';
import { FlowRefusal } from './refusal.js';

const MEASURE_EVERY_MS = 500;

export interface Admission {
  /**
   * Throws rate_limited while the whole backlog, or the project's, or that of its shard, is above
   * its mark. `shard` is its owner in the backlog; undefined with one shard.
   */
  admit(projectId: string, shard?: string): void;
  /** Whether the project's backlog, including `bytes`, is too large for the shared queue. */
  isBulk(projectId: string, bytes: number): boolean;
  /** The estimated backlog of the project. */
  backlogOf(projectId: string): Backlog;
  /** Runs `add` after the same checks as `admit`, and counts the job from then on. */
  addJob<R>(job: NewJob, add: () => Promise<R>): Promise<R>;
}

interface NewJob {
  readonly bytes: number;
  /** Set when every event of the job belongs to this project. */
  readonly projectId?: string;
  /** Shard of all events, as in `admit`. */
  readonly shard?: string | undefined;
  /** Bytes that the job adds to the backlog of each project and shard. */
  readonly shares: ReadonlyMap<string, number>;
}

export interface BacklogLimits {
  /** Jobs that are waiting or delayed. */
  readonly jobsMax: number;
  /** Memory of Redis, except for first-seen times, which have a limit of their own. */
  readonly memoryBytesMax: number;
  /** A project whose backlog exceeds this, including the new request, gets jobs of its own. */
  readonly promptBytesMax: number;
}

export interface BacklogSource {
  /** The backlog of all projects together; its bytes are those of Redis. */
  readonly measure: () => Promise<Backlog>;
  /** The backlog of each project that has one. */
  readonly measureProjects: () => Promise<ReadonlyMap<string, Backlog>>;
}

/** Measures at most twice a second, and only while requests arrive or are rejected. */
export function createAdmission(source: BacklogSource, limits: BacklogLimits): Admission {
  const all = new BacklogEstimate();
  let projects = new Map<string, BacklogEstimate>();
  let measuredAt = Number.NEGATIVE_INFINITY;

  function projectOf(id: string): BacklogEstimate {
    const project = projects.get(id) ?? new BacklogEstimate();
    projects.set(id, project);
    return project;
  }

  const backlogOf = (id: string): Backlog => projects.get(id)?.now ?? NOTHING;

  async function measure(): Promise<void> {
    const ends = new Map([...projects].map(([id, project]) => [id, project.startMeasuring()]));
    const end = all.startMeasuring();
    const [measured, backlogs] = await Promise.all([source.measure(), source.measureProjects()]);
    end(measured);
    // A project that appeared during the measurement keeps only what this process has added.
    for (const id of backlogs.keys()) if (!projects.has(id)) ends.set(id, projectOf(id).startMeasuring());
    for (const [id, endProject] of ends) endProject(backlogs.get(id) ?? NOTHING);
    // Projects without a backlog are added again by their next request.
    projects = new Map([...projects].filter(([, { now }]) => now.bytes > 0 || now.jobs > 0));
  }

  function measureWhenDue(): void {
    // The clock of the machine may be set back: the queue could overflow until it has caught up.
    if (performance.now() - measuredAt < MEASURE_EVERY_MS) return;
    measuredAt = performance.now();
    // A failure is ignored: when Redis is unavailable, the commit of this request fails and reports
    // it.
    void measure()
      .catch(() => {})
      .then(() => {
        // Measure again while the queue is full: a request a minute from now must not be rejected
        // for an old measurement.
        const isFull = [undefined, ...projects.keys()].some((id) => findRefusal(id) !== undefined);
        if (isFull) setTimeout(measureWhenDue, MEASURE_EVERY_MS).unref();
      });
  }

  const isBeyond = ({ jobs, bytes }: Backlog): boolean =>
    isBeyondShare(jobs, limits.jobsMax - all.now.jobs) || isBeyondShare(bytes, limits.memoryBytesMax - all.now.bytes);

  function findRefusal(projectId: string | undefined, shard?: string): FlowRefusal | undefined {
    const { jobs, bytes } = all.now;
    if (jobs > limits.jobsMax) {
      return new FlowRefusal('backlog', `${jobs} jobs are waiting to be stored; the limit is ${limits.jobsMax}`);
    }
    if (bytes > limits.memoryBytesMax) return new FlowRefusal('backlog', 'the memory limit of the queue is reached');
    if (isBeyond(backlogOf(projectId ?? ''))) {
      return new FlowRefusal('project_backlog', 'the project has used up its share of the backlog');
    }
    // A shard that stores nothing must leave room for the projects of others.
    return shard !== undefined && isBeyond(backlogOf(shard))
      ? new FlowRefusal('shard_backlog', 'the database of the project does not store events at the moment')
      : undefined;
  }

  function requireRoom(projectId: string | undefined, shard: string | undefined): void {
    const refusal = findRefusal(projectId, shard);
    if (refusal !== undefined) throw refusal;
  }

  return {
    admit(projectId, shard) {
      measureWhenDue();
      requireRoom(projectId, shard);
    },
    isBulk: (projectId, bytes) => backlogOf(projectId).bytes + bytes > limits.promptBytesMax,
    backlogOf,
    async addJob({ bytes, projectId, shard, shares }, add) {
      requireRoom(projectId, shard);
      const ends = [...shares].map(([id, share]) =>
        projectOf(id).startAdding({ bytes: share, jobs: id === projectId || id === shard ? 1 : 0 }),
      );
      ends.push(all.startAdding({ jobs: 1, bytes }));
      try {
        return await add();
      } finally {
        for (const end of ends) end();
      }
    },
  };
}
