// `npm run doctor`: checks the stores and settings of a service and prints advice. Exit status 1 when a check failed.
import { setTimeout as delay } from 'node:timers/promises';
import { CHECKS, type Check, type Finding, type Stores } from '../src/operate/checks.js';
import { createClickHouse } from '../src/platform/clickhouse/client.js';
import { readOperatorConfig } from '../src/platform/config.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { createRedis } from '../src/platform/redis/client.js';

const CHECK_TIMEOUT_MS = 5000;
const MARKS = { ok: '✓', attention: '!', failed: '✗' } as const;

async function examine(check: Check, stores: Stores): Promise<Finding> {
  const silence = delay(CHECK_TIMEOUT_MS, { state: 'failed', found: 'no answer within 5 s' } as const, { ref: false });
  const failure = (error: unknown): Finding => ({ state: 'failed', found: reasonOf(error) });
  return Promise.race([check.run(stores).catch(failure), silence]);
}

// Refused connections to several addresses are an AggregateError without message.
const reasonOf = (error: unknown): string =>
  error instanceof AggregateError ? String(error.errors[0]) : error instanceof Error ? error.message : String(error);

try {
  const config = readOperatorConfig();
  const stores = {
    postgres: createPostgres(config, { poolMax: 2 }),
    redis: createRedis(config),
    redisHighWaterBytes: config.REDIS_MEMORY_HIGH_WATER_BYTES,
    clickhouse: createClickHouse(config, { requestTimeoutMs: CHECK_TIMEOUT_MS }),
  };
  stores.redis.on('error', () => {});
  const findings = await Promise.all(CHECKS.map(async (check) => ({ check, ...(await examine(check, stores)) })));
  for (const { check, state, found } of findings) {
    const advice = state === 'ok' ? '' : `\n    → ${check.advice}`;
    process.stdout.write(`${MARKS[state]} ${check.name}: ${found}${advice}\n`);
    if (state === 'failed') process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// Pending requests to an unresponsive store must not keep the command running.
process.exit();
