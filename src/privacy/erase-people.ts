// Erasure of people as one ordered list of repeatable steps. Afterwards no query, export or API
// returns data of the person; that is verified by counting. Files are rewritten later
// (rewrite-files.ts).
import { setTimeout as delay } from 'node:timers/promises';
import { forgetRows } from '../alerts/delivery-store.js';
import { forgetValues } from '../catalog/store.js';
import { projectionQueryId } from '../identity/clickhouse-projection.js';
import type { IdentifyQueue } from '../identity/queue.js';
import { decodeEnvelopes } from '../ingest/envelope.js';
import { deleteFirstSeenTimes, HELD_MS } from '../ingest/first-seen-times.js';
import { partitionOf, partitionQueryId } from '../ingest/insert/ingest-partition.js';
import { payloadOfJob, projectOfJob } from '../ingest/payloads.js';
import { listActiveJobs } from '../ingest/queue.js';
import { forgetSamplesOf } from '../ingest/rejected/store.js';
import { forgetRowsOfMails, type MailQueue } from '../mail/queue.js';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import type { Shard, Shards } from '../platform/clickhouse/shards.js';
import { requireAnswers } from '../platform/clickhouse/silent-hosts.js';
import { waitForQuery } from '../platform/clickhouse/wait-for-query.js';
import type { Config } from '../platform/config.js';
import { groupBy } from '../platform/group-by.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { type Bounded, countRows, deleteRows, type RowSet, visitInsertIds } from './erase-rows.js';
import type { HashId, IdKind } from './id-hash.js';
import { countIdentities, findIdentities, forgetFailedCalls, forgetIdentity, isCallOf } from './identities.js';
import { EVENTS, MAPPINGS, PROFILES } from './personal-data.js';
import { publishTombstones } from './publish-tombstones.js';
import { type Erasure, saveDevices, saveEventCount } from './store.js';
import type { Tombstone } from './tombstones.js';

export interface ErasureDeps {
  readonly config: Pick<Config, 'INGEST_PARTITIONS' | 'CLICKHOUSE_DATABASE' | 'DATABASE_URL'>;
  readonly shards: Shards;
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly identifyQueue: IdentifyQueue;
  readonly mailQueue: MailQueue;
  readonly hashId: HashId;
  /** Ends every wait when the process stops. */
  readonly signal: AbortSignal;
}

/** An erasure whose devices are known. */
export type KnownErasure = Erasure & { readonly deviceIds: readonly string[] };

/**
 * Resolves once no data of these people is found. All identify calls up to their sequence numbers
 * must have been applied.
 */
export async function erasePeople(deps: ErasureDeps, erasures: readonly Erasure[]): Promise<void> {
  const known: KnownErasure[] = [];
  // Find the devices of all of them before removing any: devices are found through mappings, which
  // are removed later.
  for (const erasure of erasures) known.push(await findDevices(deps, erasure));
  await publishTombstones(deps);
  for (const id of groupByProject(known).keys()) await requireAnswers(await deps.shards.tracesOf(id));
  await waitForIngestion(deps, known);
  await removeRows(deps, known);
}

/**
 * Throws while one of the projects is being moved: rows that are deleted at its home could have
 * been copied before. The move waits for runs that began earlier.
 */
export async function requireSettled(
  { shards }: Pick<ErasureDeps, 'shards'>,
  people: readonly Pick<Erasure, 'projectId'>[],
): Promise<void> {
  const placements = await shards.placementsOf([...new Set(people.map(({ projectId }) => projectId))]);
  for (const [id, { isMoving }] of placements) {
    if (isMoving) throw new Error(`the project ${id} is being moved to another shard`);
  }
}

/**
 * Saves the devices on the first attempt, because a retry would find the mappings already deleted.
 */
async function findDevices({ postgres, hashId }: ErasureDeps, erasure: Erasure): Promise<KnownErasure> {
  const { projectId, userId, erasedThroughMs, deviceIds } = erasure;
  if (deviceIds !== undefined) return { ...erasure, deviceIds };
  return postgres.transaction(async (transaction) => {
    const found = await findIdentities(transaction, erasure);
    const counts = { events: 0, mappings: found.mappings, profiles: found.profiles, devices: found.mappings };
    const tombstoneOf = (kind: IdKind, id: string): Tombstone => ({
      projectId,
      kind,
      idHash: hashId({ projectId, kind, id }),
      erasedThroughMs,
    });
    const tombstones = [tombstoneOf('user', userId), ...found.deviceIds.map((id) => tombstoneOf('device', id))];
    await saveDevices(transaction, erasure, { deviceIds: found.deviceIds, counts, tombstones });
    return { ...erasure, deviceIds: found.deviceIds };
  });
}

const POLL_MS = 20;
const ACTIVE_JOBS_WAIT_MS = 60_000;

/**
 * Waits for jobs that started before the tombstone was published, and for their inserts, which
 * continue in ClickHouse after their worker has died. Later jobs see the tombstone.
 */
export async function waitForIngestion(
  deps: Pick<ErasureDeps, 'redis' | 'shards' | 'signal'> & {
    readonly config: Omit<ErasureDeps['config'], 'DATABASE_URL'>;
  },
  erasures: readonly Pick<Erasure, 'projectId'>[],
): Promise<void> {
  const projects = new Set<string>(erasures.map(({ projectId }) => projectId));
  const shardIds = (await deps.shards.read()).map(({ id }) => id);
  const deadline = performance.now() + ACTIVE_JOBS_WAIT_MS;
  for (let begun = await jobsThatMayHold(deps, { projects, shardIds }); begun.size > 0; ) {
    if (performance.now() > deadline) throw new Error(`${begun.size} ingest jobs that began before have not ended yet`);
    await delay(POLL_MS, undefined, { signal: deps.signal });
    // A job that was put back, as during a move, is a later one when it begins again.
    begun = new Set((await listActiveJobs(deps.redis, shardIds)).filter((id) => begun.has(id)));
  }
  const { INGEST_PARTITIONS: partitions, CLICKHOUSE_DATABASE: database } = deps.config;
  for (const projectId of new Set(erasures.map((erasure) => erasure.projectId))) {
    const queryId = partitionQueryId(partitionOf(projectId, partitions), database);
    for (const { clickhouse } of await deps.shards.tracesOf(projectId)) await waitForQuery(clickhouse, queryId);
  }
}

/**
 * Active jobs with events of these projects. With several shards the payloads are read, so that
 * nothing waits for the jobs of a shard that is unavailable.
 */
async function jobsThatMayHold(
  { redis }: Pick<ErasureDeps, 'redis'>,
  { projects, shardIds }: { projects: ReadonlySet<string>; shardIds: readonly number[] },
): Promise<ReadonlySet<string>> {
  const jobs = new Set<string>();
  for (const id of await listActiveJobs(redis, shardIds)) {
    const project = projectOfJob(id);
    const isTheirs =
      project === undefined ? shardIds.length === 1 || (await holdsAny(redis, id, projects)) : projects.has(project);
    if (isTheirs) jobs.add(id);
  }
  return jobs;
}

/** A payload that is not readable may hold anything. */
async function holdsAny(redis: Redis, id: string, projects: ReadonlySet<string>): Promise<boolean> {
  const bytes = await redis.getBuffer(payloadOfJob(id));
  if (bytes === null) return false;
  try {
    return decodeEnvelopes(bytes).some(({ header }) => projects.has(header.p));
  } catch {
    return true;
  }
}

/** Throws when rows of the people remain. */
export async function removeRows(deps: ErasureDeps, erasures: readonly KnownErasure[]): Promise<void> {
  for (const [projectId, group] of groupByProject(erasures)) {
    await requireSettled(deps, group);
    const traces = await deps.shards.tracesOf(projectId);
    await requireAnswers(traces);
    await eraseEvents(deps, { projectId, group, traces });
    // A sample that a web process is still about to write is removed by the purge, which runs this
    // again.
    await forgetSamplesOf(deps.redis, projectId, group.flatMap(idsOf));
    const versions = new Map<Erasure, number>();
    for (const erasure of group) versions.set(erasure, await forgetIdentity(deps.postgres, erasure));
    await forgetFailedCalls(deps.identifyQueue, (call) => group.some((erasure) => isCallOf(erasure, call)));
    // Wait for projections in progress whose worker died.
    for (const { clickhouse } of traces) {
      for (const table of ['profiles', 'device_map'] as const) {
        await waitForQuery(clickhouse, projectionQueryId(deps.config.CLICKHOUSE_DATABASE, table));
      }
      for (const rows of [mappingsOf(projectId, group), profilesOf(projectId, versions)]) {
        // A mutation reads every part of a table, even when there is nothing to delete.
        if ((await countRows(clickhouse, rows)).size > 0) await deleteRows(clickhouse, rows);
      }
    }
    await requireNothing(deps, { projectId, group, versions, traces });
    await forgetValues(deps.postgres, projectId);
    // In this order: the rows of a message are in PostgreSQL until its mail is in the queue.
    await forgetRows(deps.postgres, projectId);
    await forgetRowsOfMails(deps.mailQueue, projectId);
  }
}

async function eraseEvents(
  { postgres, redis }: ErasureDeps,
  { projectId, group, traces }: { projectId: ProjectId; group: readonly KnownErasure[]; traces: readonly Shard[] },
): Promise<void> {
  const events = eventsOf(projectId, group);
  // The first is where the project lives; rows of others are what a move has left behind.
  for (const { clickhouse } of traces) {
    const rows = await countRows(clickhouse, events);
    if (rows.size === 0) continue;
    // Save the count before the rows are deleted: a crash in between would lose it.
    if (clickhouse === traces[0]?.clickhouse) {
      for (const erasure of group) await saveEventCount(postgres, erasure, ownRows(erasure, rows));
    }
    await eraseEventsAt(clickhouse, redis, events);
  }
}

async function eraseEventsAt(clickhouse: ClickHouseClient, redis: Redis, events: RowSet): Promise<void> {
  const { projectId } = events;
  await visitInsertIds(clickhouse, { ...events, sinceMs: Date.now() - HELD_MS }, (insertIds) =>
    deleteFirstSeenTimes(
      redis,
      insertIds.map((insertId) => ({ projectId, insertId })),
    ),
  );
  await deleteRows(clickhouse, events);
}

const idsOf = ({ userId, deviceIds }: KnownErasure): string[] => [userId, ...deviceIds];

function ownRows(erasure: KnownErasure, rows: ReadonlyMap<string, number>): number {
  const own = [`user:${erasure.userId}`, ...erasure.deviceIds.map((id) => `device:${id}`)];
  return own.reduce((sum, key) => sum + (rows.get(key) ?? 0), 0);
}

async function requireNothing(
  { postgres }: ErasureDeps,
  found: {
    projectId: ProjectId;
    group: readonly KnownErasure[];
    versions: ReadonlyMap<Erasure, number>;
    traces: readonly Shard[];
  },
): Promise<void> {
  const { projectId, group, versions, traces } = found;
  const sets = [eventsOf(projectId, group), mappingsOf(projectId, group), profilesOf(projectId, versions)];
  // Every host is asked, because a replica may be behind.
  for (const host of traces.flatMap(({ hosts }) => hosts)) {
    for (const set of sets) {
      const rows = await countRows(host.clickhouse, set);
      if (rows.size > 0) {
        throw new Error(`${set.table.name} at ${host.name} still has rows of ${rows.size} ids that were erased`);
      }
    }
  }
  for (const erasure of group) {
    const rows = await countIdentities(postgres, erasure);
    if (rows > 0) throw new Error(`${rows} mappings or operations of an erased person are still there`);
  }
}

const eventsOf = (projectId: ProjectId, group: readonly KnownErasure[]): RowSet => ({
  table: EVENTS,
  projectId,
  people: boundedBy(group, ({ erasedThroughMs }) => erasedThroughMs),
});

const mappingsOf = (projectId: ProjectId, group: readonly KnownErasure[]): RowSet => ({
  table: MAPPINGS,
  projectId,
  people: boundedBy(group, ({ erasedThroughSeq }) => erasedThroughSeq),
});

const profilesOf = (projectId: ProjectId, versions: ReadonlyMap<Erasure, number>): RowSet => ({
  table: PROFILES,
  projectId,
  people: [...versions].map(([{ userId }, upTo]) => ({ kind: 'user', id: userId, upTo })),
});

const boundedBy = (group: readonly KnownErasure[], bound: (erasure: Erasure) => number): Bounded[] =>
  group.flatMap((erasure) => [
    { kind: 'user', id: erasure.userId, upTo: bound(erasure) } as const,
    ...erasure.deviceIds.map((id) => ({ kind: 'device', id, upTo: bound(erasure) }) as const),
  ]);

export const groupByProject = <E extends Erasure>(erasures: readonly E[]): Map<ProjectId, E[]> =>
  groupBy(erasures, ({ projectId }) => projectId);
