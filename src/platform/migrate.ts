// `npm run migrate`: applies the pending migrations of both databases. ClickHouse may rewrite parts
// in the background afterwards, which no deployment needs to wait for.
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from './clickhouse/client.js';
import { migrateShards } from './clickhouse/migrate.js';
import { type Rewrites, readRewrites, watchRewrites } from './clickhouse/rewrites.js';
import { requireShardNumber } from './clickhouse/shard-number.js';
import { listShards, urlsOf } from './clickhouse/shards.js';
import { failCommand, failWithMessage, ofStore } from './command-failure.js';
import { type Config, readOperatorConfig } from './config.js';
import { EXIT_INTERRUPTED } from './exit-status.js';
import { createLogger } from './log.js';
import { withPostgres } from './postgres/client.js';
import { migratePostgres } from './postgres/migrate.js';
import { StepProgress } from './progress.js';
import { readArguments, UsageError } from './usage-error.js';

const POLL_MS = 1000;
const MEBIBYTE = 1024 * 1024;

const progress = new StepProgress(process.stderr);

interface Arguments {
  readonly wait: boolean;
  /** Number of a shard. */
  readonly lost?: number | undefined;
}

function parseArguments(): Arguments {
  const options = { wait: { type: 'boolean', default: false }, lost: { type: 'string' } } as const;
  const { wait, lost } = readArguments({ options }).values;
  return { wait, lost: lost === undefined ? undefined : requireShardNumber(lost) };
}

async function migrate(config: Config, { wait, lost }: Arguments): Promise<void> {
  const log = createLogger({ process: 'migrate', level: config.LOG_LEVEL });
  const postgres = await ofStore('PostgreSQL', migratePostgres(config, progress));
  const clickhouse = await ofStore('ClickHouse', migrateShards(config, { progress, lost }));
  progress.clear();
  const { database, hosts } = await readPostgres(config);
  log.info({ database, postgres, clickhouse }, 'migrated');
  for (const url of hosts) {
    await withClient(url, config.CLICKHOUSE_DATABASE, async (host) => {
      const left = await readRewrites(host);
      if (left.parts === 0) return;
      log.info(describeLeft(left));
      if (!wait) return;
      await watchRewrites(host, progress, async () => {
        while ((await readRewrites(host)).parts > 0) await delay(POLL_MS);
      });
      progress.clear();
      log.info('ClickHouse has rewritten all parts');
    });
  }
}

/** Its database, which DATABASE_URL need not name, and the hosts of all shards. */
const readPostgres = (config: Config): Promise<{ database: string; hosts: string[] }> =>
  withPostgres(config, async (postgres) => {
    const { rows } = await postgres.raw<{ rows: [{ database: string }] }>('SELECT current_database() AS database');
    const shards = await listShards(postgres);
    return { database: rows[0].database, hosts: shards.flatMap((shard) => urlsOf(config, shard)) };
  });

/** Sentence about the rewrites that are left. */
const describeLeft = ({ parts, bytes }: Rewrites): string =>
  `ClickHouse rewrites ${parts} parts (${(bytes / MEBIBYTE).toFixed(1)} MiB) in the background and answers queries meanwhile; npm run migrate -- --wait shows how far it is`;

/** Without a wait: the databases roll back what is incomplete, or the next run repeats it. */
function interrupt(): void {
  progress.clear();
  process.stderr.write('interrupted; run the same command again: it goes on with what is left\n');
  process.exit(EXIT_INTERRUPTED);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
let config: Config | undefined;
try {
  const given = parseArguments();
  config = readOperatorConfig();
  await migrate(config, given);
} catch (error) {
  progress.clear();
  if (error instanceof UsageError) failWithMessage(error);
  else failCommand(error, config);
}
