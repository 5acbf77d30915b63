// `npm run migrate`: applies the pending migrations of both databases.
import { migrateShards } from './clickhouse/migrate.js';
import { failCommand } from './command-failure.js';
import { type Config, readConfig } from './config.js';
import { createLogger } from './log.js';
import { migratePostgres } from './postgres/migrate.js';

async function migrate(config: Config): Promise<void> {
  const log = createLogger({ process: 'migrate', level: config.LOG_LEVEL });
  log.info({ postgres: await migratePostgres(config), clickhouse: await migrateShards(config) }, 'migrated');
}

let config: Config | undefined;
try {
  config = readConfig();
  await migrate(config);
} catch (error) {
  failCommand(error, config);
}
