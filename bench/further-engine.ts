// Further ClickHouse servers beside that of a stack, as its shards: engines of their own in folders
// of the caller. One that ends by itself is started again at once.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createOrganization, createProject, type NewProject } from '../src/accounts/store.js';
import { type ClickHouseClient, createClickHouse } from '../src/platform/clickhouse/client.js';
import { FIRST_SHARD, REGISTRY_EVERY_MS } from '../src/platform/clickhouse/shards.js';
import { type Config, parseConfig } from '../src/platform/config.js';
import { SERVICE_ENVIRONMENT_FILE } from '../src/platform/paths.js';
import { createPostgres, withPostgres } from '../src/platform/postgres/client.js';
import { createRedis } from '../src/platform/redis/client.js';
import { addShard } from '../src/shards/add-shard.js';
import { embeddedClickHouse } from '../standalone/clickhouse-server.js';
import { findFreePort } from '../standalone/free-port.js';
import { SupervisedProcess } from '../standalone/supervised-process.js';

const RESTART_PAUSE_MS = 200;

export interface FurtherEngine {
  readonly url: string;
  readonly clickhouse: ClickHouseClient;
  /** Of a process that may have ended; undefined while it starts again. */
  readonly pid: number | undefined;
  /** Its connections stay open, and nothing answers, until it is stopped. */
  hang(): void;
  stop(): Promise<void>;
}

export async function startFurtherEngine(directory: string, database: string): Promise<FurtherEngine> {
  mkdirSync(directory, { recursive: true });
  const { spec, url } = embeddedClickHouse({ directory, port: await findFreePort(), password: 'further', database });
  let isStopping = false;
  let running: SupervisedProcess;
  // A new one instead of its own restart, whose pause doubles each time.
  const begin = (): Promise<void> => {
    const started = new SupervisedProcess(spec, {
      line: () => {},
      started: () => {},
      ended: () => {},
      restarting: () => {
        started.kill();
        void beginAgain();
      },
    });
    running = started;
    return started.start();
  };
  // One that is killed while it starts is not restarted by itself.
  const beginAgain = async (): Promise<void> => {
    while (!isStopping) {
      try {
        return await begin();
      } catch {
        await delay(RESTART_PAUSE_MS);
      }
    }
  };
  // Interrupted runs exit, and the engine would go on.
  const end = (): void => running.kill();
  process.once('exit', end);
  await begin();
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: database }, { maxConnections: 4 });
  return {
    url,
    clickhouse,
    get pid() {
      return running.pid;
    },
    hang: () => {
      if (running.pid === undefined) throw new Error('the server does not run');
      process.kill(running.pid, 'SIGSTOP');
    },
    stop: async () => {
      isStopping = true;
      await clickhouse.close();
      end();
      await running.stop();
      process.off('exit', end);
    },
  };
}

/** Settings of the service that `npm start` runs in the directory. */
export const readServiceConfig = (directory: string): Config =>
  parseConfig(JSON.parse(readFileSync(join(directory, SERVICE_ENVIRONMENT_FILE), 'utf8')));

/** Adds the servers as `npm run shards -- add` does, and a new project for each of them. */
export async function addEngines(directory: string, engines: readonly FurtherEngine[]): Promise<NewProject[]> {
  const config = readServiceConfig(directory);
  const postgres = createPostgres(config, { poolMax: 2 });
  const redis = createRedis(config);
  try {
    const deps = { config, postgres, redis, say: () => {}, signal: new AbortController().signal };
    for (const [index, { url }] of engines.entries()) {
      // Processes read the list of shards at intervals: once is enough for all.
      await addShard(deps, [url], index < engines.length - 1 ? { waitMs: 0 } : {});
    }
  } finally {
    redis.disconnect();
    await postgres.destroy();
  }
  return createProjects(directory, engines.length);
}

/** Sets whether the service knows of its further shards. */
export async function showFurtherShards(directory: string, isShown: boolean): Promise<void> {
  await withPostgres(readServiceConfig(directory), (postgres) =>
    postgres('shards')
      .where('id', '>', FIRST_SHARD)
      .update({ removed_at: isShown ? null : new Date() }),
  );
  await delay(REGISTRY_EVERY_MS * 1.5);
}

/** Each goes to the emptiest shard. */
export async function createProjects(directory: string, count: number): Promise<NewProject[]> {
  const { SECRET_KEY_BASE: secretKeyBase, ...config } = readServiceConfig(directory);
  return withPostgres(config, async (postgres) => {
    const { id: organizationId } = await createOrganization(postgres, { name: 'Shards' });
    const projects: NewProject[] = [];
    for (let number = 1; number <= count; number += 1) {
      projects.push(await createProject(postgres, { organizationId, name: `Project ${number}`, secretKeyBase }));
    }
    return projects;
  });
}
