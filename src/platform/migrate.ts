// `npm run migrate`: applies the pending migrations of both databases.
import { migrateClickHouse } from './clickhouse/migrate.js';
import { readConfig } from './config.js';
import { createLogger } from './log.js';
import { migratePostgres } from './postgres/migrate.js';

const config = readConfig();
const log = createLogger({ process: 'migrate', level: config.LOG_LEVEL });
log.info({ postgres: await migratePostgres(config), clickhouse: await migrateClickHouse(config) }, 'migrated');
