// Shards of a test: the registry of its databases, and a stack with two ClickHouse servers.
import type { NewProject } from '../../src/accounts/store.js';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { Shards } from '../../src/platform/clickhouse/shards.js';
import type { Config } from '../../src/platform/config.js';
import type { ProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { addShard, type ShardsDeps } from '../../src/shards/add-shard.js';
import { hurryCleaning } from './erasure.js';
import { type ExtraEngine, startExtraEngine } from './extra-engine.js';
import {
  createTestDatabases,
  type Environment,
  type ProcessGroup,
  startProcesses,
  type TestDatabases,
} from './stack.js';
import type { ProcessKind } from './stack-processes.js';
import { createTestProject } from './track.js';

/** `close` also ends its connections to PostgreSQL. */
export function openShards(config: Config): Shards {
  const postgres = createPostgres(config);
  const shards = new Shards(config, { postgres });
  const closeClients = shards.close.bind(shards);
  shards.close = async () => {
    await closeClients();
    await postgres.destroy();
  };
  return shards;
}

/** Shard 1 is the server of all tests, shard 2 an engine of its own. Both clean up soon. */
export interface TwoShards {
  readonly databases: TestDatabases;
  /** The server of shard 2. */
  readonly second: ExtraEngine;
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly shards: Shards;
  readonly processes: ProcessGroup;
  /** Of the commands of `npm run shards`. */
  readonly deps: ShardsDeps & { readonly config: Config };
  clientOf(shard: number): Promise<ClickHouseClient>;
  /** Of a project, in `events` by default. */
  rowsOn(shard: number, project: Pick<NewProject, 'id'>, table?: string): Promise<number>;
  /** A project with an event, and its two shards. */
  projectWithEvent(): Promise<{ id: ProjectId; home: number; other: number }>;
  /** Of a command: what it says; `onLine` is called with each line. */
  sayingDeps(options?: { waitMs?: number; onLine?: (line: string) => unknown }): SayingDeps;
  close(): Promise<void>;
}

interface SayingDeps {
  readonly said: readonly string[];
  readonly deps: TwoShards['deps'] & { readonly waitMs: number };
  abort(): void;
}

/** New projects alternate between the shards, beginning with the first. */
export async function startTwoShards(env: Environment = {}, kinds?: readonly ProcessKind[]): Promise<TwoShards> {
  const opened: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  const keep = <T>(part: T, end: (part: T) => unknown): T => {
    opened.push(() => end(part));
    return part;
  };
  try {
    const databases = keep(await createTestDatabases(env), (part) => part.close());
    const { config } = databases;
    const second = keep(await startExtraEngine(), (part) => part.remove());
    const postgres = keep(createPostgres(config), (part) => part.destroy());
    const redis = keep(createRedis(config), (part) => part.disconnect());
    const deps = { config, postgres, redis, say: () => {}, signal: new AbortController().signal };
    await addShard(deps, [second.url], { waitMs: 0 });
    const shards = keep(openShards(config), (part) => part.close());
    for (const { clickhouse } of await shards.read()) await hurryCleaning(clickhouse);
    const processes = keep(await startProcesses(databases.env, kinds), (part) => part.stop());
    const clientOf = async (shard: number) => (await shards.get(shard)).clickhouse;
    const rowsOn: TwoShards['rowsOn'] = async (shard, { id }, table = 'events') =>
      countRows(await clientOf(shard), table, id);
    const projectWithEvent: TwoShards['projectWithEvent'] = async () => {
      const { id } = await createTestProject(databases);
      const home = (await shards.homeOf(id)).shard;
      const values = [{ project_id: id, event_type: 'visit', time: '2026-01-01 00:00:00', insert_id: 'one' }];
      await (await clientOf(home)).insert({ table: 'events', values, format: 'JSONEachRow' });
      return { id, home, other: home === 1 ? 2 : 1 };
    };
    const sayingDeps: TwoShards['sayingDeps'] = ({ waitMs = 0, onLine } = {}) => {
      const said: string[] = [];
      const aborting = new AbortController();
      const saying = (line: string) => {
        said.push(line);
        onLine?.(line);
      };
      return { said, abort: () => aborting.abort(), deps: { ...deps, say: saying, signal: aborting.signal, waitMs } };
    };
    const stack = { databases, second, postgres, redis, shards, processes, deps };
    return { ...stack, clientOf, rowsOn, projectWithEvent, sayingDeps, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function countRows(clickhouse: ClickHouseClient, table: string, id: string): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT toUInt32(count()) AS rows FROM ${table} WHERE project_id = {id:UUID}`,
    query_params: { id },
    format: 'JSONEachRow',
  });
  return (await result.json<{ rows: number }>())[0]?.rows ?? -1;
}
