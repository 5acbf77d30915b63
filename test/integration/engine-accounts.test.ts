// Accounts of the engines when the service is started as root, and the owners of their folders.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { packageRoot } from '../../src/platform/paths.js';
import { embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findPrivateMount } from '../../standalone/engine-user.js';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedPostgres } from '../../standalone/postgres-server.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { type ProcessObserver, SupervisedProcess } from '../../standalone/supervised-process.js';
import { OTHER_ACCOUNT_ID } from '../support/other-account.js';

const isRoot = process.getuid?.() === 0;
const canMount = isRoot && findPrivateMount(tmpdir(), []) !== undefined;

const directories: string[] = [];
const processes: SupervisedProcess[] = [];
const observer: ProcessObserver = { line: () => {}, started: () => {}, ended: () => {}, restarting: () => {} };
/** Stands in for DATA_DIR, closed to other accounts. */
let directory: string;
let secretFile: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'event-analytics-accounts-'));
  directories.push(directory);
  secretFile = join(directory, 'secrets.json');
  writeFileSync(secretFile, 'the secret', { mode: 0o600 });
});

afterEach(stop);

afterAll(() => {
  for (const path of directories) rmSync(path, { recursive: true, force: true });
});

interface Started {
  readonly clickhouse: string;
  readonly redis: string;
  /** As the superuser. */
  readonly postgres: string;
  /** By name. */
  readonly pids: ReadonlyMap<string, number>;
}

async function start(): Promise<Started> {
  const clickhouse = embeddedClickHouse({
    ...{ directory: join(directory, 'clickhouse'), port: await findFreePort() },
    ...{ password: 'password', database: 'analytics' },
  });
  const redis = embeddedRedis({
    directory: join(directory, 'redis'),
    port: await findFreePort(),
    password: 'password',
  });
  const postgres = await embeddedPostgres({
    ...{ directory: join(directory, 'postgres'), port: await findFreePort() },
    ...{ superuserPassword: 'superuser', password: 'password' },
  });
  const started = [clickhouse, redis, postgres].map(({ spec }) => new SupervisedProcess(spec, observer));
  processes.push(...started);
  await Promise.all(started.map((one) => one.start()));
  return {
    clickhouse: clickhouse.url,
    redis: redis.url,
    postgres: postgres.superuserUrl.replace(/\/analytics$/, '/postgres'),
    pids: new Map(started.map(({ spec, pid }) => [spec.name, pid ?? 0])),
  };
}

async function stop(): Promise<void> {
  await Promise.all(processes.splice(0).map((one) => one.stop()));
}

const statusOf = (pid: number, field: string): string[] =>
  new RegExp(`^${field}:[\\t ]*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split('\t') ?? [];

async function askPostgres(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function write({ clickhouse, redis, postgres }: Started): Promise<void> {
  const client = createClickHouse({ CLICKHOUSE_URL: clickhouse, CLICKHOUSE_DATABASE: 'default' });
  await client.command({ query: 'CREATE DATABASE analytics' });
  await client.command({ query: 'CREATE TABLE analytics.written (n UInt64) ENGINE = MergeTree ORDER BY n' });
  await client.insert({ table: 'analytics.written', values: [{ n: 7 }], format: 'JSONEachRow' });
  await client.close();
  const store = new Redis(redis);
  await store.set('written', 7);
  await store.quit();
  await askPostgres(postgres, 'CREATE TABLE written AS SELECT 7 AS n');
}

async function read({ clickhouse, redis, postgres }: Started): Promise<unknown> {
  const client = createClickHouse({ CLICKHOUSE_URL: clickhouse, CLICKHOUSE_DATABASE: 'default' });
  const rows = await (await client.query({ query: 'SELECT * FROM analytics.written', format: 'JSONEachRow' })).json();
  await client.close();
  const store = new Redis(redis);
  const value = await store.get('written');
  await store.quit();
  return [rows, value, await askPostgres(postgres, 'SELECT * FROM written')];
}

const WRITTEN = [[{ n: 7 }], '7', [{ n: 7 }]];

function giveTo(uid: number, path: string): void {
  lchownSync(path, uid, uid);
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) giveTo(uid, join(path, name));
}

describe.runIf(canMount)('engine accounts when started as root', () => {
  test('each engine has its own account, which can read only its folder of DATA_DIR', async () => {
    const started = await start();
    await write(started);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const uids = [...started.pids].map(([name, pid]) => {
      const [real, ...others] = statusOf(pid, 'Uid').map(Number);
      const gid = Number(statusOf(pid, 'Gid')[0]);
      expect(real).not.toBe(0);
      expect(new Set(others)).toEqual(new Set([real]));
      expect(statusOf(pid, 'CapEff')).toEqual(['0000000000000000']);
      expect(statusOf(pid, 'Groups').join('').trim()).toBe('');
      expect(statSync(join(directory, name)).uid).toBe(real);
      // From inside its folder, where DATA_DIR itself need not be passed.
      for (const path of [
        secretFile,
        '/etc/shadow',
        '../secrets.json',
        '../redis/redis.conf',
        '../clickhouse/users.xml',
        '../postgres/PG_VERSION',
      ]) {
        const { status } = spawnSync('cat', [path], { cwd: join(directory, name), uid: real, gid });
        expect([name, path, status]).toEqual([name, path, 1]);
      }
      return real;
    });
    expect(new Set(uids).size).toBe(3);
    // The superuser of PostgreSQL has the file access of its account.
    for (const path of [secretFile, '/etc/shadow']) {
      await expect(askPostgres(started.postgres, `SELECT pg_read_file('${path}')`)).rejects.toThrow(
        'Permission denied',
      );
    }
  });

  test('data folders owned by root, from an earlier version, are taken over with their data', async () => {
    await write(await start());
    await stop();
    for (const name of ['clickhouse', 'redis', 'postgres']) giveTo(0, join(directory, name));
    expect(await read(await start())).toEqual(WRITTEN);
    await stop();
    expect(await read(await start())).toEqual(WRITTEN);
  });

  test("the start writes nothing through symbolic links in an engine's folder", async () => {
    await start();
    await stop();
    for (const file of ['redis/redis.conf', 'clickhouse/users.xml', 'clickhouse/config.xml']) {
      rmSync(join(directory, file));
      spawnSync('ln', ['-s', secretFile, join(directory, file)]);
    }
    await start();
    expect(readFileSync(secretFile, 'utf8')).toBe('the secret');
    expect(statSync(secretFile).uid).toBe(0);
  });

  test('a start as another account exits with a message that names the owner', async () => {
    await start();
    await stop();
    const run = () =>
      spawnSync(process.execPath, [join(packageRoot, 'dist/standalone/main.js')], {
        ...{ cwd: '/', uid: OTHER_ACCOUNT_ID, gid: OTHER_ACCOUNT_ID, encoding: 'utf8' },
        env: { PATH: process.env.PATH, DATA_DIR: directory, DATABASE_URL: inject('engines').postgres },
      });
    expect(run()).toMatchObject({
      status: 1,
      stderr: `${directory} belongs to another account of this machine (uid 0): start as that account, or set DATA_DIR to a folder of your own.\n`,
    });
    chmodSync(directory, 0o700);
    lchownSync(directory, OTHER_ACCOUNT_ID, OTHER_ACCOUNT_ID);
    giveTo(OTHER_ACCOUNT_ID, secretFile);
    rmSync(secretFile);
    const { status, stderr } = run();
    expect(stderr).toMatch(/redis belongs to another account of this machine, as after a start as root: /);
    expect(status).toBe(1);
  });
});

test.runIf(isRoot)('findEngineAccount() warns and returns undefined when root cannot change its account', () => {
  mkdirSync(join(directory, 'redis'));
  const script = `
    const { findEngineAccount } = await import(${JSON.stringify(join(packageRoot, 'dist/standalone/engine-user.js'))});
    console.log(findEngineAccount('redis', ['true']));`;
  // Like a container in which root may not change its account.
  const withoutRights = ['--bounding-set=-setuid', '--inh-caps=-setuid', '--', process.execPath];
  const { stdout, stderr } = spawnSync('setpriv', [...withoutRights, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  expect([stdout, stderr]).toEqual([
    'undefined\n',
    'redis runs as root, because this system gives it no other account.\n',
  ]);
});
