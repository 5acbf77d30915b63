// Builds the dependencies of POST /track from the configuration, and those that it shares with POST
// /identify.
import type { Registry } from 'prom-client';
import type { CredentialStore } from '../access/credentials.js';
import type { RateLimits } from '../access/rate-limits.js';
import { FIRST_SHARD, type Shards } from '../platform/clickhouse/shards.js';
import type { Config } from '../platform/config.js';
import { type BacklogLimits, createAdmission } from '../platform/flow/admission.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { type Commit, GroupCommit } from '../platform/flow/group-commit.js';
import type { ProjectRates } from '../platform/flow/project-rates.js';
import type { RefusalCounter } from '../platform/flow/refusal.js';
import { Turns } from '../platform/flow/turns.js';
import type { BodyLimits } from '../platform/http/read-body.js';
import type { Redis } from '../platform/redis/client.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { DroppedEvents } from './drop/counts.js';
import { createGeographyLookup, parseGeographyHeaders } from './enrich/geography.js';
import type { Envelope } from './envelope.js';
import { type LimitSettings, toEventLimits } from './limits.js';
import { createIngestMetrics } from './metrics.js';
import { ownerOfShard, readBacklogs, sharesOf } from './payloads.js';
import { enqueueIngest, IngestQueues, measureBacklog, parseCommitKey } from './queue.js';
import type { RejectedEvents } from './rejected/events.js';
import type { IngestDeps } from './routes.js';

/** What the routes of public keys share. */
export interface IngestionParts {
  readonly credentials: CredentialStore;
  readonly rateLimits: Pick<RateLimits, 'track' | 'identify'>;
  readonly redis: Redis;
  readonly registry: Registry;
  readonly body: BodyLimits;
  readonly rates: ProjectRates;
  readonly refused: RefusalCounter;
  readonly threads: ThreadPool;
  readonly shards: Pick<Shards, 'known'>;
}

/** Settings that the routes of public keys share. */
export type IngestionSettings = LimitSettings &
  Pick<
    Config,
    'INGEST_BACKLOG_JOBS_MAX' | 'REDIS_MEMORY_HIGH_WATER_BYTES' | 'INGEST_COMMIT_EVENTS' | 'INGEST_COMMIT_DELAY_MS'
  >;

export const toBacklogLimits = (settings: IngestionSettings, promptBytesMax: number): BacklogLimits => ({
  jobsMax: settings.INGEST_BACKLOG_JOBS_MAX,
  memoryBytesMax: settings.REDIS_MEMORY_HIGH_WATER_BYTES,
  promptBytesMax,
});

export const toGroupLimits = (settings: IngestionSettings, bytesMax: number) => ({
  weightMax: settings.INGEST_COMMIT_EVENTS,
  bytesMax,
  delayMs: settings.INGEST_COMMIT_DELAY_MS,
});

type IngestSettings = IngestionSettings &
  Pick<
    Config,
    | 'GEOIP_DATABASE'
    | 'GEOIP_HEADERS'
    | 'MAX_BATCH_SIZE'
    | 'INGEST_FIRST_TIMES_MAX'
    | 'INGEST_FIRST_TIMES_PER_PROJECT_MAX'
  >;

export function createIngestDeps(
  settings: IngestSettings,
  {
    rateLimits,
    registry,
    ...parts
  }: IngestionParts & {
    readonly rejectedEvents: RejectedEvents;
    readonly droppedEvents: DroppedEvents;
  },
): IngestDeps {
  const { redis } = parts;
  const queues = new IngestQueues(redis);
  const metrics = createIngestMetrics(registry);
  const geographyDatabases = settings.GEOIP_DATABASE?.split(',') ?? [];
  const source = {
    measure: () =>
      measureBacklog(
        parts.shards.known.flatMap(({ id }) => queues.of(id)),
        redis,
      ),
    measureProjects: () => readBacklogs(redis),
  };
  const admission = createAdmission(source, toBacklogLimits(settings, BOUNDS.ingestPromptBytes));
  const addCommit = async (commit: Commit<Envelope>): Promise<string> => {
    const { project, shard: home } = parseCommitKey(commit.key);
    // Workers do not read the queues of a shard that was removed since a key was looked up.
    const isGone = home !== undefined && !parts.shards.known.some(({ id }) => id === home);
    const shard = isGone ? FIRST_SHARD : home;
    const job = {
      bytes: commit.bytes,
      shares: sharesOf(commit.items),
      ...(project !== '' && { projectId: project }),
      shard: shard === undefined ? undefined : ownerOfShard(shard),
    };
    const [prompt, bulk] = queues.of(shard ?? FIRST_SHARD);
    const keyed = { ...commit, key: project, shard };
    const jobId = await admission.addJob(job, () => enqueueIngest(project === '' ? prompt : bulk, redis, keyed));
    metrics.commitEvents.observe(commit.weight);
    return jobId;
  };
  return {
    ...parts,
    rateLimit: rateLimits.track,
    admission,
    turns: new Turns(),
    groupCommit: new GroupCommit(addCommit, toGroupLimits(settings, BOUNDS.ingestCommitBytes)),
    findGeography: createGeographyLookup({
      databases: geographyDatabases,
      headerNames: parseGeographyHeaders(settings.GEOIP_HEADERS),
      readsInBackground: true,
    }),
    geographyDatabases,
    hasProxyHeaders: settings.GEOIP_HEADERS !== undefined,
    limits: { ...toEventLimits(settings), batchSizeMax: settings.MAX_BATCH_SIZE },
    firstTimes: {
      totalMax: settings.INGEST_FIRST_TIMES_MAX,
      perProjectMax: settings.INGEST_FIRST_TIMES_PER_PROJECT_MAX,
    },
    metrics,
  };
}
