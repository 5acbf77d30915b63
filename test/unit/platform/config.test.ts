// Parsing of settings whose text is easily misunderstood.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { expect, test } from 'vitest';
import { HOLDER_PID, parseConfig, readOperatorConfig } from '../../../src/platform/config.js';
import { SERVICE_ENVIRONMENT_FILE } from '../../../src/platform/paths.js';
import { publicUrlOf } from '../../../src/platform/public-url.js';

const STORES = {
  DATABASE_URL: 'postgres://x',
  REDIS_URL: 'redis://x',
  CLICKHOUSE_URL: 'http://x',
  SECRET_KEY_BASE: 'x'.repeat(32),
};

test.each([
  ['1', '10.1.2.3', [true, false]],
  ['2', '10.1.2.3', [true, true]],
  ['10.0.0.0/8', '10.1.2.3', [true, true]],
  ['loopback, 10.1.2.3', '10.1.2.3', [true, true]],
  ['loopback', '10.1.2.3', [false, false]],
])('TRUST_PROXY=%s trusts %s as first and second hop: %j', (text, address, believed) => {
  const app = express();
  app.set('trust proxy', parseConfig({ ...STORES, TRUST_PROXY: text }).TRUST_PROXY);
  const believes: (address: string, hop: number) => boolean = app.get('trust proxy fn');
  expect([0, 1].map((hop) => believes(address, hop))).toEqual(believed);
});

test('what is missing is named as missing, also when it is empty', () => {
  const { DATABASE_URL: _, ...others } = STORES;
  const problem = 'the configuration has 2 problem(s): DATABASE_URL: missing; REDIS_URL: missing';
  expect(() => parseConfig({ ...others, REDIS_URL: '' })).toThrow(problem);
});

function readBeside(content: object, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'operator-config-'));
  writeFileSync(join(folder, SERVICE_ENVIRONMENT_FILE), JSON.stringify(content));
  const names = ['DATA_DIR', ...Object.keys(STORES), 'CLICKHOUSE_DATABASE'];
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  try {
    for (const name of names) process.env[name] = '';
    Object.assign(process.env, environment, { DATA_DIR: folder });
    return readOperatorConfig();
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true });
  }
}

test('an empty variable does not hide what the running service has', () => {
  expect(readBeside({ ...STORES, CLICKHOUSE_DATABASE: 'other' })).toMatchObject({
    ...STORES,
    CLICKHOUSE_DATABASE: 'other',
  });
});

test('a REDIS_URL in the environment does not hide a running service that uses it', () => {
  const stores = { DATABASE_URL: 'postgres://mine', REDIS_URL: STORES.REDIS_URL };
  expect(readBeside(STORES, stores)).toMatchObject({ ...STORES, ...stores });
  expect(() => readBeside(STORES, { ...stores, REDIS_URL: 'redis://other' })).toThrow('CLICKHOUSE_URL: missing');
});

test('a service whose npm start was killed is named, instead of its stores', () => {
  expect(readBeside({ ...STORES, [HOLDER_PID]: String(process.pid) })).toMatchObject(STORES);
  const { pid } = spawnSync(process.execPath, ['--version']);
  expect(() => readBeside({ ...STORES, [HOLDER_PID]: String(pid) })).toThrow(
    `npm start, process ${pid}, ended without stopping its service: run "npm start" again`,
  );
});

test('GEOIP_HEADERS requires TRUST_PROXY', () => {
  const settings = { ...STORES, GEOIP_HEADERS: 'country=cf-ipcountry' };
  expect(() => parseConfig(settings)).toThrow('GEOIP_HEADERS: needs TRUST_PROXY');
  expect(parseConfig({ ...settings, TRUST_PROXY: 'loopback' }).GEOIP_HEADERS).toBe('country=cf-ipcountry');
});

test('WEBHOOK_PRIVATE_ADDRESSES is a list of addresses and networks', () => {
  const read = (text: string) => parseConfig({ ...STORES, WEBHOOK_PRIVATE_ADDRESSES: text }).WEBHOOK_PRIVATE_ADDRESSES;
  expect(read('10.1.2.3, fd00::/8')).toEqual(['10.1.2.3', 'fd00::/8']);
  expect(read('')).toEqual([]);
  for (const text of ['localhost', '10.0.0.0/40', '*'])
    expect(() => read(text)).toThrow('WEBHOOK_PRIVATE_ADDRESSES: must');
});

test.each(['http://a:8123,http://b:8123', 'http://a:8123, https://b', 'http://a,b:8123', 'http://u:p@a:1,b:2/'])(
  'CLICKHOUSE_URL=%s is refused with what to do',
  (text) => {
    const problem = 'CLICKHOUSE_URL: takes the URL of one server; add further ones, or replicas, by `npm run shards';
    expect(() => parseConfig({ ...STORES, CLICKHOUSE_URL: text })).toThrow(problem);
  },
);

test('CLICKHOUSE_URL may have commas in its password', () => {
  const text = 'http://u:p,w@host:8123';
  expect(parseConfig({ ...STORES, CLICKHOUSE_URL: text }).CLICKHOUSE_URL).toBe(text);
  expect(() => parseConfig({ ...STORES, CLICKHOUSE_URL: 'host' })).toThrow(
    'CLICKHOUSE_URL: must be a URL that begins with https:// or http://',
  );
});

test.each([
  ['DATABASE_URL', 'localhost:5432/analytics', 'must be a URL that begins with postgres:// or postgresql://'],
  ['REDIS_URL', 'localhost:6379', 'must be a URL that begins with redis:// or rediss://'],
  ['CLICKHOUSE_URL', 'localhost:8123', 'must be a URL that begins with https:// or http://'],
  ['CLICKHOUSE_URL', 'http://host:8123/analytics', 'must have no path: CLICKHOUSE_DATABASE names the database'],
  ['CLICKHOUSE_URL', 'http://host:8123/?a=1,2', 'must have no parameters after a question mark'],
  [
    'CLICKHOUSE_URL',
    'https://host:8443/?secure=1',
    'must have no parameters after a question mark: https:// stands for',
  ],
  ['CLICKHOUSE_URL', 'http://a:p%w@host:8123', 'has a % in its user or password that begins no code: write %25'],
  ['REDIS_URL', 'redis://:p%w@host', 'has a % in its user or password that begins no code: write %25 for it'],
  ['REDIS_URL', 'redis://host/cache', 'must have no path but the number of a database: redis://host:6379/1'],
  ['QUERY_URL', 'query:8081', 'must be a URL that begins with https:// or http://'],
  ['SMTP_URL', 'mail.example.com:587', 'must be a URL that begins with smtp:// or smtps://'],
  ['IDP_TOKEN_URL', 'id.example.com:443/token', 'must be a URL that begins with https:// or http://'],
  ['PUBLIC_URL', 'analytics.example.com', 'must be a URL that begins with https:// or http://'],
  ['PUBLIC_URL', 'https://example.com/analytics', 'must have no path: the service is served at the root of a host'],
  ['SECRET_KEY_BASE', 'x'.repeat(31), 'must have at least 32 characters'],
  ['REDIS_TLS', 'self-signed', 'is for a REDIS_URL that begins with rediss://'],
  ['PRIVACY_PURGE_DELAY_MS', '3600000', 'must be less than PRIVACY_PURGE_BY_MS'],
  ['TRUST_PROXY', '10.0.0.0/255.0.0.999', 'must be loopback, addresses and networks separated by commas'],
  ['TRUST_PROXY', 'true', 'must be loopback, addresses and networks separated by commas, or a number of hops'],
  ['DNS_SERVERS', 'dns.example.com', 'must be addresses of name servers, separated by commas'],
  ['MAX_BATCH_SIZE', '2k', 'must be a whole number'],
  ['MAX_BATCH_SIZE', '0', 'must be at least 1'],
  ['EVENTS_PER_MONTH_MAX', '1.5', 'must be a whole number'],
])('%s=%s is refused: %s', (name, text, problem) => {
  expect(() => parseConfig({ ...STORES, [name]: text })).toThrow(
    `the configuration has 1 problem(s): ${name}: ${problem}`,
  );
});

test('settings are read in every form that their programs take', () => {
  const read = (settings: Record<string, string>) => parseConfig({ ...STORES, ...settings });
  expect(read({ DNS_SERVERS: '10.0.0.2, 10.0.0.3:53,[::1]:53,fd00::1' }).DNS_SERVERS).toEqual([
    ...['10.0.0.2', '10.0.0.3:53', '[::1]:53', 'fd00::1'],
  ]);
  expect(read({ DNS_SERVERS: '' }).DNS_SERVERS).toBeUndefined();
  for (const text of ['uniquelocal, ::1', '10.0.0.0/255.0.0.0'])
    expect(read({ TRUST_PROXY: text }).TRUST_PROXY).toBe(text);
  for (const url of ['postgres:///analytics?host=/run/postgresql', 'postgresql://u:p@h/d']) {
    expect(read({ DATABASE_URL: url }).DATABASE_URL).toBe(url);
  }
  expect(['1', 'true', '0', 'false'].map((text) => read({ METRICS_ENABLED: text }).METRICS_ENABLED)).toEqual([
    ...[true, true, false, false],
  ]);
  expect(read({ PUBLIC_URL: 'https://example.com/' }).PUBLIC_URL).toBe('https://example.com/');
});

test.each([
  [{ HOST: '127.0.0.1' }, 'http://127.0.0.1:8080/'],
  [{ HOST: '::1', PORT: '80' }, 'http://[::1]/'],
  [{ HOST: '::' }, 'http://127.0.0.1:8080/'],
  [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://example.com' }, 'https://example.com/'],
])('with %j the public address is %s', (given, address) => {
  expect(publicUrlOf(parseConfig({ ...STORES, ...given })).href).toBe(address);
});
