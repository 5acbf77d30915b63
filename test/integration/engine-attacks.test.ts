// Attacks on the engines of `npm start`: by another user of the machine, by a web page in its
// browser, and with the service's own credentials.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { launchChromium } from '../support/browser.js';
import { OTHER_ACCOUNT_ID } from '../support/other-account.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const isRoot = process.getuid?.() === 0;

const folder = mkdtempSync(join(tmpdir(), 'event-analytics-attacks-'));
const secretFile = join(folder, 'secrets.json');
const writtenFile = join(folder, 'written');
let databases: TestDatabases;
let database: string;

beforeAll(async () => {
  writeFileSync(secretFile, 'the secret', { mode: 0o600 });
  databases = await createTestDatabases();
  database = databases.config.CLICKHOUSE_DATABASE;
});

afterAll(async () => {
  pages.close();
  await databases.close();
  rmSync(folder, { recursive: true, force: true });
});

const partsOf = (url: string): URL => new URL(url);
const portOf = (url: string): number => Number(partsOf(url).port);

/** Runs a script as another OS user, if the tests run as root. */
async function asOtherUser(script: string): Promise<string> {
  const options = {
    cwd: '/',
    env: { PATH: process.env.PATH },
    ...(isRoot && { uid: OTHER_ACCOUNT_ID, gid: OTHER_ACCOUNT_ID }),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], options);
  return stdout;
}

const pages = createServer();

/**
 * Serves a page of another origin on this machine, because browsers block requests of remote pages
 * to its addresses.
 */
async function serve(html: string): Promise<string> {
  pages.on('request', (_, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(pages.address() as AddressInfo).port}/`;
}

describe('attacks on ClickHouse', () => {
  const clickhouseUrl = () => inject('engines').clickhouse;
  const address = () => `http://127.0.0.1:${portOf(clickhouseUrl())}/`;
  const withPassword = () => {
    const { username, password } = partsOf(clickhouseUrl());
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  };

  const STATEMENTS = () => [
    'SELECT 1',
    `SELECT * FROM file('${secretFile}', LineAsString)`,
    `SELECT file('${secretFile}')`,
    `INSERT INTO FUNCTION file('${writtenFile}', 'CSV', 'a Int32') VALUES (1)`,
    `SELECT * FROM url('http://127.0.0.1:1/', LineAsString)`,
    `SELECT count() FROM ${database}.events`,
    `DROP TABLE ${database}.events`,
    'SYSTEM STOP LISTEN HTTP',
    'SYSTEM SHUTDOWN',
    'CREATE USER intruder',
    'SELECT * FROM system.query_log',
  ];

  test('another OS user gets no answer with any account, address or header', async () => {
    const requests = STATEMENTS().flatMap((sql) =>
      ['', '?user=default', '?user=default&password=', '?user=analytics', '?user=analytics&password=analytics'].map(
        (query) => ({ sql, query }),
      ),
    );
    const headers = {
      'X-Forwarded-For': '::1',
      'X-ClickHouse-User': 'default',
      'X-ClickHouse-Key': '',
    };
    const answers = await asOtherUser(`(async () => {
      const answers = [];
      for (const { sql, query } of ${JSON.stringify(requests)}) {
        for (const headers of [{}, ${JSON.stringify(headers)}]) {
          const response = await fetch('${address()}' + query, { method: 'POST', body: sql, headers });
          answers.push([response.status, (await response.text()).split(/[\\n?]/)[0]]);
        }
      }
      for (const path of ['ping', 'play', 'dashboard', 'replicas_status', 'metrics', 'js/lz-string.js', 'binary', 'merges']) {
        const response = await fetch('${address()}' + path);
        answers.push([response.status, (await response.text()).split('\\n')[0].replace(path, '')]);
      }
      console.log(JSON.stringify(answers));
    })()`);
    const distinct = new Set((JSON.parse(answers) as [number, string][]).map(([status, text]) => `${status} ${text}`));
    expect([...distinct]).toEqual(['404 There is no handle /']);
    expect(existsSync(writtenFile)).toBe(false);
  });

  test('a web page of any origin runs no statement', async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(await serve('<title>elsewhere</title>'));
      const statements = [...STATEMENTS(), `CREATE TABLE ${database}.of_a_page (a Int32) ENGINE = Memory`];
      const sent = await page.evaluate(
        async ({ url, sqls }) => {
          const send = async (address: string, body?: string) => {
            try {
              const init = { mode: 'no-cors', method: body === undefined ? 'GET' : 'POST' } as const;
              return (await fetch(address, body === undefined ? init : { ...init, body })).type;
            } catch {
              return 'refused';
            }
          };
          const types: string[] = [];
          for (const sql of sqls) {
            types.push(await send(url, sql), await send(`${url}?query=${encodeURIComponent(sql)}`));
            types.push(await send(`${url}?user=default&query=${encodeURIComponent(sql)}`, ''));
          }
          return types;
        },
        { url: address(), sqls: statements },
      );
      // The requests have reached the server, which refused them.
      expect(sent).toContain('opaque');
    } finally {
      await browser.close();
    }
    const client = createClickHouse(databases.config);
    const tables = await client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
    const names = (await tables.json<{ name: string }>()).map(({ name }) => name);
    expect(names).toContain('events');
    expect(names).not.toContain('of_a_page');
    await client.close();
  });

  const REFUSED: readonly [what: string, sql: () => string, code: RegExp][] = [
    ['reads a file', () => `SELECT * FROM file('${secretFile}', LineAsString)`, /Code: 497|getcwd failed/],
    ['reads a file by the function', () => `SELECT file('${secretFile}')`, /getcwd failed/],
    ['reads a file by the function with a default', () => `SELECT file('${secretFile}', 'x')`, /getcwd failed/],
    ['reads a file named in a table', () => `SELECT file(path) FROM ${database}.paths`, /getcwd failed/],
    [
      'writes a file',
      () => `INSERT INTO FUNCTION file('${writtenFile}', 'CSV', 'a Int8') VALUES (1)`,
      /Code: 497|getcwd failed/,
    ],
    ['writes an answer to a file', () => `SELECT 1 INTO OUTFILE '${writtenFile}'`, /Code: 358/],
    ['creates a table in files', () => `CREATE TABLE ${database}.x (a Int8) ENGINE = File(CSV)`, /Code: 497/],
    ['reads from a URL', () => "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)", /Code: 497/],
    [
      'creates a table at a URL',
      () => `CREATE TABLE ${database}.x (a Int8) ENGINE = URL('http://a/', CSV)`,
      /Code: 497/,
    ],
    ['reads from another server', () => "SELECT * FROM remote('127.0.0.1:9000', system.one)", /Code: 497/],
    [
      'reads from object storage',
      () => "SELECT * FROM s3('http://a.example/bucket/key', 'CSV', 'a Int8')",
      /Code: 497/,
    ],
    ['reads from PostgreSQL', () => "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')", /Code: 497/],
    ['reads from MySQL', () => "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", /Code: 497/],
    ['reads from SQLite', () => `SELECT * FROM sqlite('${secretFile}', 't')`, /Code: 497|getcwd failed/],
    [
      'runs a program',
      () => "SELECT * FROM executable('id', CSV, 'a String')",
      /does not exist inside user scripts folder/,
    ],
    [
      'creates a dictionary',
      () => `CREATE DICTIONARY ${database}.d (a UInt64) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)`,
      /Code: 497/,
    ],
    ['creates another database', () => 'CREATE DATABASE elsewhere', /Code: 497/],
    ['drops another database', () => 'DROP DATABASE default', /Code: 497/],
    ['creates a user', () => 'CREATE USER intruder', /Code: 497/],
    ['changes its own user', () => "ALTER USER analytics IDENTIFIED BY 'x'", /Code: 497/],
    ['grants itself all rights', () => 'GRANT ALL ON *.* TO analytics', /Code: 497/],
    ['becomes another user', () => 'EXECUTE AS default SELECT 1', /Code: 344/],
    [
      'makes a view with the rights of another',
      () => `CREATE VIEW ${database}.v DEFINER = default SQL SECURITY DEFINER AS SELECT 1`,
      /Code: 497/,
    ],
    ['sees users', () => 'SELECT * FROM system.users', /Code: 497/],
    ['sees settings of the server', () => 'SELECT * FROM system.server_settings', /Code: 497/],
    ['stops listening', () => 'SYSTEM STOP LISTEN HTTP', /Code: 497/],
    ['shuts down', () => 'SYSTEM SHUTDOWN', /Code: 497/],
    ['stops merges', () => `SYSTEM STOP MERGES ${database}.events`, /Code: 497/],
    ['writes a backup', () => `BACKUP DATABASE ${database} TO File('${writtenFile}')`, /Code: 497/],
    ['defines a function', () => 'CREATE FUNCTION f AS (x) -> x', /Code: 497/],
    ['looks into the process', () => "SELECT demangle('x') SETTINGS allow_introspection_functions = 1", /Code: 497/],
    [
      'writes in a read',
      () => `CREATE TABLE ${database}.x (a Int8) ENGINE = Memory SETTINGS readonly = 1`,
      /Code: (?:164|115|36|62)/,
    ],
  ];

  test.each(REFUSED)('the service account is refused a statement that %s', async (_, sql, refusal) => {
    const client = createClickHouse(databases.config);
    await client.command({ query: `CREATE TABLE IF NOT EXISTS paths (path String) ENGINE = MergeTree ORDER BY path` });
    await client.insert({ table: 'paths', values: [{ path: secretFile }], format: 'JSONEachRow' });
    await client.close();
    const response = await fetch(address(), {
      method: 'POST',
      body: sql(),
      headers: { Authorization: withPassword() },
    });
    expect(await response.text()).toMatch(refusal);
    expect(response.status).not.toBe(200);
    expect(existsSync(writtenFile)).toBe(false);
  });
});

describe('attacks on PostgreSQL', () => {
  /** The SQLSTATE that a statement is refused with. */
  async function refusalOf(sql: string, change: (url: URL) => void = () => {}): Promise<string> {
    const url = partsOf(databases.config.DATABASE_URL);
    change(url);
    const client = new pg.Client({ connectionString: url.href });
    try {
      await client.connect();
      await client.query(sql);
      return 'not refused';
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    } finally {
      await client.end().catch(() => {});
    }
  }

  test.each(['analytics', 'analytics_service', 'postgres', 'root', 'nobody'])(
    'user %s cannot connect without the password',
    async (user) => {
      for (const password of ['', 'analytics', 'postgres']) {
        const refusal = await refusalOf('SELECT 1', (url) => {
          url.username = user;
          url.password = password;
        });
        // Without a password, the driver itself sees that one is asked for.
        expect(refusal).toMatch(/^28P01$|client password must be a string/);
      }
    },
  );

  test.each([
    ['reads a file', `SELECT pg_read_file('/etc/passwd')`],
    ['lists a folder', `SELECT pg_ls_dir('/')`],
    ['loads a file', `SELECT lo_import('/etc/passwd')`],
    ['copies a file in', `CREATE TEMPORARY TABLE t (a text); COPY t FROM '/etc/passwd'`],
    ['copies to a file', `COPY (SELECT 1) TO '${writtenFile}'`],
    ['starts a program', `COPY (SELECT 1) TO PROGRAM 'id'`],
    ['changes the server', `ALTER SYSTEM SET shared_preload_libraries = 'x'`],
    ['loads a library', `CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'x', 'y'`],
    ['makes itself superuser', 'ALTER ROLE analytics_service SUPERUSER'],
    ['makes a role', 'CREATE ROLE intruder LOGIN'],
    ['becomes the superuser', 'SET ROLE analytics'],
    ['makes a database', 'CREATE DATABASE elsewhere'],
    ['sees passwords', 'SELECT * FROM pg_authid'],
    ['reloads the configuration', 'SELECT pg_reload_conf()'],
  ])('the service account is refused a statement that %s', async (_, sql) => {
    expect(await refusalOf(sql)).toBe('42501');
    expect(existsSync(writtenFile)).toBe(false);
  });

  test.each(['postgres', 'template1'])('the service account cannot connect to the database %s', async (name) => {
    const refusal = await refusalOf('SELECT 1', (url) => {
      url.pathname = `/${name}`;
    });
    expect(refusal).toBe('42501');
  });
});

describe('attacks on Redis', () => {
  const url = () => inject('engines').redis;

  test('another OS user can run no command', async () => {
    const commands = [
      'PING',
      'INFO',
      'KEYS *',
      'FLUSHALL',
      'CONFIG GET dir',
      'EVAL "return 1" 0',
      'AUTH default ""',
      'AUTH x',
    ];
    const answers = await asOtherUser(`
      const socket = require('node:net').connect(${portOf(url())}, '127.0.0.1');
      socket.on('data', (text) => process.stdout.write(text));
      socket.end(${JSON.stringify(`${commands.join('\r\n')}\r\n`)});
    `);
    const lines = answers.trim().split('\r\n');
    expect(lines).toHaveLength(commands.length);
    for (const line of lines) expect(line).toMatch(/^-(?:NOAUTH|WRONGPASS|ERR AUTH)/);
  });

  test('an HTTP request with commands in its body closes the connection', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(portOf(url()), '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.once('error', reject).once('close', () => resolve(text));
      socket.write('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://elsewhere.example\r\n\r\nFLUSHALL\r\n');
    });
    expect(answer).not.toContain('+OK');
  });

  test.each([
    ['CONFIG', 'SET', 'dir', '/tmp'],
    ['CONFIG', 'REWRITE'],
    ['MODULE', 'LOAD', '/tmp/x.so'],
    ['DEBUG', 'RELOAD'],
    ['SLAVEOF', '127.0.0.1', '1'],
    ['REPLICAOF', '127.0.0.1', '1'],
    ['MIGRATE', '127.0.0.1', '1', 'k', '0', '1'],
    ['ACL', 'SETUSER', 'default', 'on', 'nopass', '+@all'],
    ['SHUTDOWN', 'NOSAVE'],
    ['SAVE'],
    ['FLUSHALL'],
    ['MONITOR'],
    ['EVAL', "return redis.call('CONFIG', 'SET', 'dir', '/tmp')", '0'],
  ])('the service account is refused %s %s', async (...command) => {
    const redis: Redis = createRedis(databases.config);
    try {
      const [name = '', ...args] = command;
      await expect(redis.call(name, ...args)).rejects.toThrow(/NOPERM|has no permissions|not allowed/i);
    } finally {
      redis.disconnect();
    }
  });
});

test.runIf(isRoot)('another OS user can read no file of the engines', async () => {
  const listing = await promisify(execFile)('find', [tmpdir(), '-maxdepth', '1', '-name', 'event-analytics-test-*']);
  const folders = listing.stdout.trim().split('\n');
  expect(folders.length).toBeGreaterThan(0);
  const read = await asOtherUser(`
    const { readdirSync } = require('node:fs');
    for (const folder of ${JSON.stringify(folders)}) {
      for (const name of ['', '/redis/redis.conf', '/clickhouse/users.xml', '/clickhouse/config.xml', '/clickhouse/store', '/postgres']) {
        try { require('node:fs').readFileSync(folder + name); console.log('read', folder + name); } catch (error) { if (error.code !== 'EACCES') console.log(error.code, folder + name); }
      }
    }`);
  expect(read).toBe('');
});
