// Adds a shard: migrates its hosts, registers it, waits until every process of the service has read
// the registry, and then lets it have new projects.
import { setTimeout as delay } from 'node:timers/promises';
import { publishPlacements } from '../ingest/placement-cache.js';
import { type ClickHouseClient, createClickHouse } from '../platform/clickhouse/client.js';
import { migrateShard } from '../platform/clickhouse/migrate.js';
import { REGISTRY_EVERY_MS, urlsOf } from '../platform/clickhouse/shards.js';
import type { Config } from '../platform/config.js';
import { messageOf } from '../platform/errors.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { listRegistered, registerShard, setAcceptsNew } from './store.js';

export interface ShardsDeps {
  readonly config: Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE'>;
  readonly postgres: Postgres;
  readonly redis: Redis;
  /** Tells the operator what is done. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Three times the interval, because one reading may fail. */
const REGISTRY_WAIT_MS = 3 * REGISTRY_EVERY_MS;
const ANSWER_TIMEOUT_MS = 10_000;

/** Throws when a host cannot be migrated, or belongs to a shard already. May be repeated. */
export async function addShard(
  deps: ShardsDeps,
  urls: readonly string[],
  waitMs: number = REGISTRY_WAIT_MS,
): Promise<void> {
  const { config, postgres, redis, say, signal } = deps;
  const registered = await listRegistered(postgres);
  const same = registered.find((shard) => shard.urls.join() === urls.join());
  if (same === undefined)
    await requireNewServers(
      config,
      registered.flatMap((shard) => urlsOf(config, shard)),
      urls,
    );
  const id = same?.id ?? Math.max(...registered.map((shard) => shard.id)) + 1;
  const { applied, failed } = await migrateShard({ id, urls }, config.CLICKHOUSE_DATABASE);
  if (failed.length > 0) {
    const reasons = failed.map(({ host, error }) => `${host}: ${messageOf(error)}`);
    throw new Error(`the shard is not added, because migrations failed at ${reasons.join('; ')}`);
  }
  say(`${applied.size} migrations were applied`);
  const added = same?.id ?? (await registerShard(postgres, urls));
  if (added !== id) throw new Error(`shard ${added} was added at the same time; begin again`);
  // Workers that know of one shard only must look up placements before a project has another.
  await publishPlacements(redis);
  say(`shard ${id} is registered; waiting ${waitMs / 1000} s until every process knows it`);
  await delay(waitMs, undefined, { signal });
  await setAcceptsNew(postgres, id, true);
  say(`shard ${id} accepts new projects`);
}

/** Two shards in one database would count, erase and delete each other's rows. */
async function requireNewServers(
  { CLICKHOUSE_DATABASE: database }: Pick<Config, 'CLICKHOUSE_DATABASE'>,
  known: readonly string[],
  urls: readonly string[],
): Promise<void> {
  const ids = new Map<string, string>();
  for (const url of [...known, ...urls]) {
    const host = new URL(url).host;
    const isNew = urls.includes(url);
    const id = await serverIdOf(url, database).catch((error: unknown) => {
      if (isNew) throw new Error(`${host} does not answer: ${messageOf(error)}`);
      return undefined;
    });
    if (id === undefined) continue;
    const other = ids.get(id);
    if (isNew && other !== undefined) throw new Error(`${host} and ${other} are the same server`);
    ids.set(id, host);
  }
}

/** The same server may have several names. */
async function serverIdOf(url: string, database: string): Promise<string> {
  const clickhouse: ClickHouseClient = createClickHouse(
    { CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: database },
    { requestTimeoutMs: ANSWER_TIMEOUT_MS },
  );
  try {
    const result = await clickhouse.query({ query: 'SELECT toString(serverUUID()) AS id', format: 'JSONEachRow' });
    return (await result.json<{ id: string }>())[0]?.id ?? '';
  } finally {
    await clickhouse.close();
  }
}
