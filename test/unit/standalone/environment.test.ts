// Environment that `npm start` gives to the processes of the service.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/platform/config.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { serviceEnvironment } from '../../../standalone/environment.js';
import { clickhouseMemoryBytes, redisHighWaterBytes } from '../../../standalone/memory.js';
import { parseMetricsAddress } from '../../../standalone/metrics-server.js';

const made = {
  urls: { postgres: 'postgres://made', redis: 'redis://made', clickhouse: 'http://made' },
  ports: { web: 8080, query: 4001, worker: 4002 },
  publicUrl: 'http://127.0.0.1:8080',
  signIn: {},
  secrets: {
    secretKeyBase: 's'.repeat(64),
    postgresPassword: 'p',
    postgresServicePassword: 'p',
    redisPassword: 'r',
    clickhousePassword: 'r',
    clickhouseBackupPassword: 'b',
  },
};

test('serviceEnvironment() contains every required setting', () => {
  expect(parseConfig(serviceEnvironment({ caller: {}, ...made }))).toMatchObject({
    DATABASE_URL: 'postgres://made',
    QUERY_URL: 'http://127.0.0.1:4001',
    QUERY_PORT: 4001,
    WORKER_PORT: 4002,
    SECRET_KEY_BASE: 's'.repeat(64),
  });
});

test('serviceEnvironment() sets the memory of the embedded engines only', () => {
  const own = parseConfig(serviceEnvironment({ caller: {}, ...made })).QUERY_MEMORY_BYTES;
  expect(own).toBeGreaterThanOrEqual(2 ** 28);
  expect(own).toBeLessThanOrEqual(2 ** 31);
  for (const [store, setting] of [
    ['CLICKHOUSE_URL', 'QUERY_MEMORY_BYTES'],
    ['REDIS_URL', 'REDIS_MEMORY_HIGH_WATER_BYTES'],
  ] as const) {
    expect(serviceEnvironment({ caller: {}, ...made })).toHaveProperty(setting);
    expect(serviceEnvironment({ caller: { [store]: 'other' }, ...made })).not.toHaveProperty(setting);
  }
});

test.each([
  [0.5, 0.5, 0.125],
  [1, 0.5, 0.25],
  [4, 2, 1],
  [64, 4, 1],
])('of %s GiB of memory, ClickHouse gets %s, and Redis stays below %s', (usable, clickhouse, redis) => {
  const bytes = usable * 2 ** 30;
  expect([clickhouseMemoryBytes(bytes), redisHighWaterBytes(bytes)]).toEqual([clickhouse * 2 ** 30, redis * 2 ** 30]);
});

test('serviceEnvironment() keeps settings of the caller, and ignores empty ones', () => {
  const caller = { SECRET_KEY_BASE: 'c'.repeat(32), GEOIP_DATABASE: 'mine.mmdb', LOG_LEVEL: '' };
  expect(parseConfig(serviceEnvironment({ caller, ...made }))).toMatchObject({
    SECRET_KEY_BASE: 'c'.repeat(32),
    GEOIP_DATABASE: 'mine.mmdb',
    LOG_LEVEL: 'info',
  });
});

test('a copy of .env.example as .env changes nothing, also where npm start computes a default', () => {
  const copied = parseEnv(readFileSync(join(packageRoot, '.env.example'), 'utf8'));
  expect(parseMetricsAddress(copied)).toEqual(parseMetricsAddress({}));
  const [withCopy, without] = [copied, {}].map((caller) => serviceEnvironment({ caller, ...made }));
  for (const name of ['QUERY_MEMORY_BYTES', 'REDIS_MEMORY_HIGH_WATER_BYTES'] as const) {
    expect(withCopy?.[name]).toBe(without?.[name]);
  }
  expect(parseConfig(withCopy ?? {})).toEqual(parseConfig(without ?? {}));
});
