// Back-pressure: above the high-water mark of all, or its project's share of it, what a client sends is refused with 429,
// before Redis runs out of memory.
import type { Queue } from 'bullmq';
import { isBeyondShare } from '../platform/fair-share.js';
import type { Redis } from '../platform/redis/client.js';
import { type Backlog, BacklogEstimate, NOTHING } from './backlog.js';
import { firstTimesBytes } from './first-seen-times.js';
import { IngestRefusal } from './refusal.js';

const MEASURE_EVERY_MS = 500;

export interface Admission {
  /** Throws rate_limited while the backlog of all, or of the project, is above its mark. */
  admit(projectId: string): void;
  /** Whether the project's backlog would be too large, with so many bytes more, to be waited for by others. */
  isBulk(projectId: string, bytes: number): boolean;
  /** What is known of the project's backlog. */
  backlogOf(projectId: string): Backlog;
  /** The same as `admit` for a job, which `add` adds: it is counted from now on. */
  addJob(job: NewJob, add: () => Promise<void>): Promise<void>;
}

export interface NewJob {
  readonly bytes: number;
  /** Of a job that holds nothing of others. */
  readonly projectId?: string;
  /** What the job adds to the backlog of each project, in bytes. */
  readonly shares: ReadonlyMap<string, number>;
}

export interface BacklogLimits {
  /** Waiting or delayed. */
  readonly jobsMax: number;
  /** Of all of Redis but first times, which have a bound of their own. */
  readonly memoryBytesMax: number;
  /** A project whose backlog is larger, the new request included, has jobs of its own. */
  readonly promptBytesMax: number;
}

export interface BacklogSource {
  readonly queues: readonly Pick<Queue, 'getJobCountByTypes'>[];
  readonly redis: Redis;
  /** The backlog of each project that has one. */
  readonly readBacklogs: (redis: Redis) => Promise<ReadonlyMap<string, Backlog>>;
}

/** Measures at most twice a second, and only while requests come or are refused. */
export function createAdmission(source: BacklogSource, limits: BacklogLimits): Admission {
  const all = new BacklogEstimate();
  let projects = new Map<string, BacklogEstimate>();
  let measuredAt = 0;

  function projectOf(id: string): BacklogEstimate {
    const project = projects.get(id) ?? new BacklogEstimate();
    projects.set(id, project);
    return project;
  }

  const backlogOf = (id: string): Backlog => projects.get(id)?.now ?? NOTHING;

  async function measure(): Promise<void> {
    const ends = new Map([...projects].map(([id, project]) => [id, project.startMeasuring()]));
    const end = all.startMeasuring();
    const [measured, backlogs] = await Promise.all([measureAll(source), source.readBacklogs(source.redis)]);
    end(measured);
    // What this process has added to a project since the measurement began stays on its own.
    for (const id of backlogs.keys()) if (!projects.has(id)) ends.set(id, projectOf(id).startMeasuring());
    for (const [id, endProject] of ends) endProject(backlogs.get(id) ?? NOTHING);
    // Others come back with their next request.
    projects = new Map([...projects].filter(([, { now }]) => now.bytes > 0 || now.jobs > 0));
  }

  function measureWhenDue(): void {
    if (Date.now() - measuredAt < MEASURE_EVERY_MS) return;
    measuredAt = Date.now();
    // Redis that cannot be asked cannot store either: the commit of this request says so.
    void measure()
      .catch(() => {})
      .then(() => {
        // Who comes back after a minute must not be refused for what was true a minute ago.
        const isFull = [undefined, ...projects.keys()].some((id) => findRefusal(id) !== undefined);
        if (isFull) setTimeout(measureWhenDue, MEASURE_EVERY_MS).unref();
      });
  }

  function findRefusal(projectId: string | undefined): IngestRefusal | undefined {
    const { jobs, bytes } = all.now;
    if (jobs > limits.jobsMax) {
      return new IngestRefusal('backlog', `${jobs} jobs are waiting to be stored; the limit is ${limits.jobsMax}`);
    }
    if (bytes > limits.memoryBytesMax) return new IngestRefusal('backlog', 'the queue has used up its memory');
    const project = backlogOf(projectId ?? '');
    return isBeyondShare(project.jobs, limits.jobsMax - jobs) ||
      isBeyondShare(project.bytes, limits.memoryBytesMax - bytes)
      ? new IngestRefusal('project_backlog', 'the project has used up its share of what may wait to be stored')
      : undefined;
  }

  function requireRoom(projectId: string | undefined): void {
    const refusal = findRefusal(projectId);
    if (refusal !== undefined) throw refusal;
  }

  return {
    admit(projectId) {
      measureWhenDue();
      requireRoom(projectId);
    },
    isBulk: (projectId, bytes) => backlogOf(projectId).bytes + bytes > limits.promptBytesMax,
    backlogOf,
    async addJob({ bytes, projectId, shares }, add) {
      requireRoom(projectId);
      const ends = [...shares].map(([id, share]) =>
        projectOf(id).startAdding({ bytes: share, jobs: id === projectId ? 1 : 0 }),
      );
      ends.push(all.startAdding({ jobs: 1, bytes }));
      try {
        await add();
      } finally {
        for (const end of ends) end();
      }
    },
  };
}

async function measureAll({ queues, redis }: BacklogSource): Promise<Backlog> {
  const [used, firstTimes, ...jobs] = await Promise.all([
    usedMemory(redis),
    firstTimesBytes(redis),
    ...queues.map((queue) => queue.getJobCountByTypes('waiting', 'prioritized', 'delayed')),
  ]);
  return { jobs: jobs.reduce((sum, count) => sum + count, 0), bytes: used - firstTimes };
}

async function usedMemory(redis: Redis): Promise<number> {
  const match = /^used_memory:(\d+)/m.exec(await redis.info('memory'));
  return Number(match?.[1] ?? 0);
}
