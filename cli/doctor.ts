// `npm run doctor`: checks the stores and settings of a service and prints advice. Exit status 1
// when a check failed.
import { CHECK_TIMEOUT_MS, examineAll } from '../src/operate/examine.js';
import { createOutsideChecks } from '../src/operate/outside-checks.js';
import { Shards } from '../src/platform/clickhouse/shards.js';
import { failWithMessage } from '../src/platform/command-failure.js';
import { readOperatorConfig } from '../src/platform/config.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { createRedis } from '../src/platform/redis/client.js';

const MARKS = { ok: '✓', attention: '!', failed: '✗' } as const;

try {
  const config = readOperatorConfig();
  const postgres = createPostgres(config, { poolMax: 2 });
  const stores = {
    postgres,
    redis: createRedis(config),
    redisHighWaterBytes: config.REDIS_MEMORY_HIGH_WATER_BYTES,
    processes: { web: config.SERVICE_URL, query: config.QUERY_URL },
    shards: new Shards(config, { postgres, requestTimeoutMs: CHECK_TIMEOUT_MS }),
  };
  stores.redis.on('error', () => {});
  for (const { name, advice, state, found } of await examineAll(stores, await createOutsideChecks(config))) {
    const shown = state === 'ok' ? '' : `\n    → ${advice}`;
    process.stdout.write(`${MARKS[state]} ${name}: ${found}${shown}\n`);
    if (state === 'failed') process.exitCode = 1;
  }
} catch (error) {
  failWithMessage(error);
}
// Pending requests to an unresponsive store must not keep the command running.
process.exit();
