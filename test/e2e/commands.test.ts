// Every command of package.json answers --help, and writes nothing; commands refuse wrong arguments
// and folders; processes say what is missing.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { inherited } from '../support/inherited.js';

// Other programs, which have a --help of their own.
const OF_OTHERS = ['format'];
const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const commands = Object.entries(scripts).filter(([name]) => !OF_OTHERS.includes(name) && !name.startsWith('heroku-'));
const folder = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

function run(
  command: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [program = '', ...words] = command.split(' ');
  const child = spawn(program === 'node' ? process.execPath : program, [...words, ...args], {
    cwd: packageRoot,
    env: {
      ...inherited('PATH', 'HOME', 'NODE_EXTRA_CA_CERTS'),
      ...{ INIT_CWD: folder, DATA_DIR: join(folder, 'data'), ...settings },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text;
  });
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output, errors })));
}

test.each(commands)('npm run %s -- --help says how it is used', async (_name, command) => {
  const { status, output, errors } = await run(command, ['--help']);
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
  expect(output).toMatch(/^usage: /);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(commands.filter(([name]) => name !== 'test'))(
  'npm run %s names an option that it does not have, in one line',
  async (_name, command) => {
    const { status, output, errors } = await run(command, ['--nonsense']);
    expect([status, output]).toEqual([2, '']);
    expect(errors).toMatch(/^[^\n]*--nonsense[^\n]*\n$/);
    expect(readdirSync(folder)).toEqual([]);
  },
);

const TAKEN_BY_NPM = 'for an option of its own: write -- before the arguments, as in npm';

test.each([
  ['doctor', ['extra'], {}, 'npm run doctor takes no arguments, not extra'],
  ['repair-redis', ['a', 'b'], {}, 'npm run repair-redis takes one directory, not also b'],
  ['repair-redis', ['/none'], {}, '/none has no folder appendonlydir: name the "dir" of redis.conf'],
  ['start', ['--keys', 'extra'], {}, '--keys takes no arguments, not extra'],
  ['start', ['--lost', '1', '2'], {}, '--lost takes one shard, not also 2'],
  ['start', [], { npm_config_keys: 'true' }, `npm took --keys ${TAKEN_BY_NPM} start -- … --keys`],
  ['migrate', [], { npm_config_lost: '2' }, `npm took --lost ${TAKEN_BY_NPM} run migrate -- … --lost`],
  [
    'shards',
    ['add', 'http://127.0.0.1:1'],
    { npm_config_several_hosts: 'true', npm_lifecycle_event: 'shards' },
    `npm took --several-hosts ${TAKEN_BY_NPM} run shards -- … --several-hosts`,
  ],
  ['explain', ['--stage'], {}, '--stage needs a value; try --help'],
  ['explain', ['--stage', 'parser', 'a'], {}, '--stage is one of parse, analyze, plan, print, calls, not "parser"'],
  ['explain', ['--timezone', 'Mars', 'a'], {}, '--timezone is not a time zone: "Mars"; one is Europe/Berlin'],
  ['demo', ['--people', '-5'], {}, '--people needs a value; try --help'],
  ['demo', ['--delete=yes'], {}, '--delete takes no value; try --help'],
  ['import', ['--fast'], {}, 'there is no option --fast; try --help'],
  [
    'types',
    ['--url', 'shop', '--key', 'sk_a'],
    {},
    '--url is not a web address: "shop"; it begins with https:// or http://',
  ],
  ['demo', ['--url', 'shop'], {}, '--url is not a web address: "shop"; it begins with https:// or http://'],
  ['faults', ['--seconds', 'x'], {}, '--seconds is a whole number of at least 1, not "x"'],
  ['faults', ['extra'], {}, 'the command takes options only, not "extra"; try --help'],
  ['neighbours', ['--factor', 'x'], {}, '--factor is a number above 0, not "x"'],
  ['neighbours', ['--attack', 'x'], {}, /^there is no attack "x"; the attacks are first-times, [^\n]*$/],
  ['simulate', ['x'], {}, 'the number of experiments is a whole number of at least 1, not "x"'],
])('npm run %s refuses %j with %j in one line', async (name, args, settings, problem) => {
  const { status, output, errors } = await run(scripts[name] ?? '', args, settings);
  expect([status, output]).toEqual([2, '']);
  const line = /^([^\n]*)\n$/.exec(errors)?.[1];
  expect(line).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  expect(readdirSync(folder)).toEqual([]);
});

test('npm run explain -- --stage calls says that a query has no calls', async () => {
  const { status, output } = await run(scripts.explain ?? '', ['--stage', 'calls', 'signup | count']);
  expect([status, output]).toEqual([0, '── calls ──\nthe query has no calls in its conditions\n\n']);
});

test.each(['backup', 'restore'])('npm run %s refuses what is not one file', async (name) => {
  const refused = async (...args: string[]) => {
    const { status, errors } = await run(scripts[name] ?? '', args);
    expect(status).toBe(2);
    return errors;
  };
  expect(await refused()).toBe(`the file is missing: npm run ${name} -- FILE.tar.gz\n`);
  expect(await refused('--fast', 'a')).toBe(`npm run ${name} has no option --fast; try --help\n`);
  expect(await refused('a', 'b')).toBe(`npm run ${name} takes one file, not also b\n`);
  expect(readdirSync(folder)).toEqual([]);
});

test('npm run restore refuses a folder in place of a backup', async () => {
  expect(await run(scripts.restore ?? '', [folder])).toEqual({
    ...{ status: 1, output: '', errors: `${folder} is a folder, not a backup.\n` },
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('npm start -- --keys creates no folder', async () => {
  const path = join(folder, 'data', 'standalone.json');
  expect(await run(scripts.start ?? '', ['--keys'])).toEqual({
    ...{ status: 1, output: '', errors: `${path} does not exist: run npm start first.\n` },
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('npm run backup refuses a folder that is no data directory, and leaves it as it is', async () => {
  const data = join(folder, 'data');
  mkdirSync(data);
  chmodSync(data, 0o755);
  expect(await run(scripts.backup ?? '', ['file.tar.gz'])).toEqual({
    ...{ status: 1, output: '', errors: `There is nothing to back up: ${data} is no data directory of npm start.\n` },
  });
  expect([readdirSync(folder), readdirSync(data), statSync(data).mode & 0o777]).toEqual([['data'], [], 0o755]);
  rmSync(data, { recursive: true });
});

test('npm run backup names a file that it cannot write, before it copies anything', async () => {
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, 'secrets.json'), '{}');
  const { status, errors } = await run(scripts.backup ?? '', ['none/file.tar.gz']);
  const reason = `ENOENT: no such file or directory, access '${join(folder, 'none')}/'`;
  expect({ status, errors }).toEqual({
    ...{ status: 1, errors: `${join(folder, 'none', 'file.tar.gz')} cannot be written: ${reason}.\n` },
  });
  const inside = await run(scripts.backup ?? '', ['data/file.tar.gz']);
  expect(inside.errors).toMatch(/data\/file\.tar\.gz is in .*\/data, all of which it would contain: name a file /);
  expect(readdirSync(data).filter((name) => name.includes('file'))).toEqual([]);
  rmSync(data, { recursive: true });
});

test('npm run invite refuses what is no e-mail address', async () => {
  expect(await run(scripts.invite ?? '', ['notanemail'])).toEqual({
    ...{ status: 2, output: '', errors: '"notanemail" is not an e-mail address\n' },
  });
});

test('a path is relative to the folder of the call', async () => {
  const redis = join(folder, 'redis');
  mkdirSync(join(redis, 'appendonlydir'), { recursive: true });
  expect(await run(scripts['repair-redis'] ?? '', ['redis'])).toEqual({
    ...{ status: 0, output: '0 bytes of zeros filled\n', errors: '' },
  });
  rmSync(redis, { recursive: true });
});

test('npm run import takes an empty DATA_DIR for the default folder', async () => {
  const { status, errors } = await run(scripts.import ?? '', ['access-log', 'none.log'], { DATA_DIR: '' });
  // A clone whose service runs has one there, and then the file is missing.
  expect(errors).not.toContain(join(packageRoot, 'standalone.json'));
  expect(status).toBeGreaterThan(0);
});

test.each(['web', 'query', 'worker'])('%s without settings says in one line which are missing', async (kind) => {
  const { status, output, errors } = await run(`node dist/processes/${kind}.js`, []);
  expect({ status, output }).toEqual({ status: 1, output: '' });
  const names = ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL', 'SECRET_KEY_BASE'];
  expect(errors).toBe(`the configuration has 4 problem(s): ${names.map((name) => `${name}: missing`).join('; ')}\n`);
});

// Checked when they are used, before a store is asked.
test.each([
  ['web', { FEATURES_OFF: 'track,reports' }, 'FEATURES_OFF: there is no feature "reports"; the features are track'],
  ['web', { GEOIP_HEADERS: 'planet=x', TRUST_PROXY: 'loopback' }, 'GEOIP_HEADERS: "planet=x" is not field=header'],
  ['web', { GEOIP_DATABASE: '/nowhere.mmdb' }, 'GEOIP_DATABASE: there is no file /nowhere.mmdb'],
  ['worker', { WORKER_JOBS: 'send-mails' }, 'WORKER_JOBS: there is no job "send-mails"; the jobs are erase-users'],
])('%s with the wrong setting %j says so in one line', async (kind, settings, problem) => {
  const stores = { DATABASE_URL: 'postgres://127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };
  const service = { CLICKHOUSE_URL: 'http://127.0.0.1:1', SECRET_KEY_BASE: 'x'.repeat(32), LOG_LEVEL: 'silent' };
  const { status, errors } = await run(`node dist/processes/${kind}.js`, [], { ...stores, ...service, ...settings });
  expect({ status, lines: errors.split('\n').length }).toEqual({ status: 1, lines: 2 });
  expect(errors.startsWith(problem)).toBe(true);
});
