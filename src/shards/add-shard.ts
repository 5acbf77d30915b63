// Adds a shard: migrates its hosts, registers it, waits until every process of the service has read
// the registry, and then lets it have new projects.
import { setTimeout as delay } from 'node:timers/promises';
import { publishPlacements } from '../ingest/placement-cache.js';
import { withClient } from '../platform/clickhouse/client.js';
import { isUnknownCluster } from '../platform/clickhouse/failures.js';
import { findLoss } from '../platform/clickhouse/lost-shard.js';
import { runningInCluster } from '../platform/clickhouse/running-inserts.js';
import { REGISTRY_EVERY_MS, urlsOf } from '../platform/clickhouse/shards.js';
import type { Config } from '../platform/config.js';
import { withAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { StepProgress } from '../platform/progress.js';
import type { Redis } from '../platform/redis/client.js';
import { hostOf, requireMigrated, requireNewServers, requireNoProjects } from './check-servers.js';
import {
  listRegistered,
  nextShardNumber,
  registerShard,
  requireRegistered,
  setAcceptsNew,
  setCluster,
} from './store.js';

export interface ShardsDeps {
  readonly config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE'>;
  readonly postgres: Postgres;
  readonly redis: Redis;
  /** Tells the operator what is done. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  readonly progress?: StepProgress;
}

/** Three times the interval, because one reading may fail. */
export const REGISTRY_WAIT_MS = 3 * REGISTRY_EVERY_MS;

/**
 * Throws when a host cannot be migrated, or belongs to a shard already. May be repeated. One at a
 * time: the number of a shard is known before its tables are created, which may contain it.
 */
export async function addShard(
  deps: ShardsDeps,
  urls: readonly string[],
  { waitMs = REGISTRY_WAIT_MS, cluster = null }: { waitMs?: number; cluster?: string | null } = {},
): Promise<void> {
  const { postgres, signal, say } = deps;
  const onWait = () => say('waiting for another command that adds a shard');
  await withAdvisoryLock(postgres, { of: 'shards', signal, onWait }, () => addAlone(deps, { urls, waitMs, cluster }));
}

async function addAlone(
  deps: ShardsDeps,
  { urls, waitMs, cluster }: { urls: readonly string[]; waitMs: number; cluster: string | null },
): Promise<void> {
  const { config, postgres, redis, say, signal } = deps;
  const registered = await listRegistered(postgres);
  const same = registered.find((shard) => shard.urls.join() === urls.join());
  const id = same?.id ?? (await nextShardNumber(postgres));
  const loss = await findLoss(postgres, { id, urls }, config.CLICKHOUSE_DATABASE);
  if (loss !== undefined) throw new Error(`shard ${id} at ${urls.map(hostOf).join(' and ')}: ${loss}`);
  if (same === undefined) {
    const known = registered.flatMap((shard) => urlsOf(config, shard));
    await requireNewServers(config.CLICKHOUSE_DATABASE, known, urls);
  }
  const applied = await requireMigrated({ id, urls }, config.CLICKHOUSE_DATABASE, 'the shard is not added');
  if (same !== undefined && same.cluster !== cluster) {
    throw new Error(`shard ${id} has another cluster; change it by several-hosts ${id}`);
  }
  if (cluster !== null) await requireCluster(urls, config.CLICKHOUSE_DATABASE, cluster);
  if (same === undefined) {
    for (const url of urls) {
      await withClient(url, config.CLICKHOUSE_DATABASE, (clickhouse) => requireNoProjects(hostOf(url), clickhouse));
    }
  }
  say(`${applied} migrations were applied`);
  const added = same?.id ?? (await registerShard(postgres, urls, cluster));
  if (added !== id) throw new Error(`shard ${added} was added at the same time; begin again`);
  // Workers that know of one shard only must look up placements before a project has another.
  await publishPlacements(redis);
  say(`shard ${id} is registered; waiting ${waitMs / 1000} s until every process knows it`);
  await delay(waitMs, undefined, { signal });
  await setAcceptsNew(postgres, id, true);
  say(`shard ${id} accepts new projects`);
}

/** Says how many hosts take inserts at the address, or that it has one. Workers must be stopped. */
export async function setSeveralHosts(
  { config, postgres, say }: ShardsDeps,
  shard: number,
  cluster: string | null,
): Promise<void> {
  const registered = requireRegistered(await listRegistered(postgres), shard);
  if (cluster !== null) await requireCluster(urlsOf(config, registered), config.CLICKHOUSE_DATABASE, cluster);
  await setCluster(postgres, shard, cluster);
  say(
    `shard ${shard} ${cluster === null ? 'has one host' : `has the hosts of the cluster ${cluster}`}; start the workers`,
  );
}

/** Throws when a take-over could not ask all hosts. */
async function requireCluster(urls: readonly string[], database: string, cluster: string): Promise<void> {
  const [url, ...others] = urls;
  if (url === undefined || others.length > 0) throw new Error('several hosts behind one address have one URL');
  await withClient(url, database, (clickhouse) => runningInCluster(clickhouse, cluster).count('none', 0)).catch(
    (error: unknown) => {
      if (!isUnknownCluster(error)) throw error;
      const known = 'SELECT DISTINCT cluster FROM system.clusters lists those that it has';
      throw new Error(`the server at ${hostOf(url)} has no cluster "${cluster}"; ${known}`, { cause: error });
    },
  );
}
