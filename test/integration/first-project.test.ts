// The first project of `npm start`, which the process `prepare` creates: a database without the
// project of DATA_DIR must not replace it, because DATA_DIR has the only copy of its admin key. And
// the command that prints its keys, or those of another project.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { recordSignIn } from '../../src/sign-in/store.js';
import type { FirstProject, StandaloneFile } from '../../standalone/standalone-file.js';
import { runScript } from '../support/run-script.js';
import { createEmptyDatabases, createTestDatabases, type TestDatabases } from '../support/stack.js';

let folder: string;
let file: string;
let own: TestDatabases;
let other: TestDatabases;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'event-analytics-first-'));
  file = join(folder, 'standalone.json');
  [own, other] = await Promise.all([createTestDatabases(), createEmptyDatabases()]);
});
afterAll(async () => {
  await Promise.all([own.close(), other.close()]);
  rmSync(folder, { recursive: true });
});

const MAIN = join(packageRoot, 'dist/standalone/prepare.js');
const argsOf = () => [MAIN, '--standalone-file', file, '--url', 'http://127.0.0.1:8080'];
const envOf = ({ env }: TestDatabases) => ({ PATH: process.env.PATH, ...env });

const prepare = (databases: TestDatabases) =>
  spawnSync(process.execPath, argsOf(), { env: envOf(databases), input: '', encoding: 'utf8' });

const read = () => JSON.parse(readFileSync(file, 'utf8')) as StandaloneFile;

test('a second start keeps the project and its keys', () => {
  expect(prepare(own)).toMatchObject({ status: 0, stderr: '' });
  const first = read();
  expect(prepare(own)).toMatchObject({ status: 0, stderr: '' });
  expect(read()).toEqual(first);
});

test('a database without the project is refused before it is migrated, and the file keeps its keys', async () => {
  const before = read();
  const { status, stderr } = prepare(other);
  expect(stderr).toBe(
    `PostgreSQL (DATABASE_URL) could not be used: ${file} names the project ${before.project_id}, which it does not have; unset DATABASE_URL if the database is the one in DATA_DIR, or move the file away for a new first project.\n`,
  );
  expect(status).toBe(1);
  expect(read()).toEqual(before);
  const postgres = createPostgres(other.config, { poolMax: 1 });
  expect(await postgres.schema.hasTable('projects')).toBe(false);
  await postgres.destroy();
  renameSync(file, join(folder, 'old.json'));
  expect(prepare(other)).toMatchObject({ status: 0, stderr: '' });
  expect(read().project_id).not.toBe(before.project_id);
  renameSync(join(folder, 'old.json'), file);
});

test('a start that was killed before it announced the keys is continued, and announces them', async () => {
  const first = read();
  rmSync(`${file}.begun`);
  const isNew = async () => {
    const child = spawn(process.execPath, argsOf(), { env: envOf(own), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [[message], [status]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
    expect(status).toBe(0);
    return (message as FirstProject).isNew;
  };
  expect(await isNew()).toBe(false);
  // Killed after it had stored the file, and before.
  copyFileSync(file, `${file}.begun`);
  expect(await isNew()).toBe(true);
  rmSync(file);
  expect(await isNew()).toBe(true);
  expect(read()).toEqual(first);
  // Killed before the transaction ended.
  renameSync(file, join(folder, 'old.json'));
  writeFileSync(`${file}.begun`, JSON.stringify({ ...first, project_id: first.organization_id }));
  expect(prepare(own)).toMatchObject({ status: 0, stderr: '' });
  expect([first.project_id, first.organization_id]).not.toContain(read().project_id);
  renameSync(join(folder, 'old.json'), file);
});

test('a ClickHouse server that does not answer keeps only its own projects waiting', async () => {
  const postgres = createPostgres(own.config, { poolMax: 1 });
  await postgres('shards').insert({ id: 2, urls: ['http://127.0.0.1:1'], accepts_new: false });
  try {
    const { status, stderr } = prepare(own);
    expect(stderr).toMatch(/^1 host could not be migrated: shard 2 at 127\.0\.0\.1:1: [^\n]+\n$/);
    expect(status).toBe(0);
  } finally {
    await postgres('shards').where({ id: 2 }).delete();
    await postgres.destroy();
  }
});

test('a deleted project gets a successor', async () => {
  const { project_id: id } = read();
  const postgres = createPostgres(own.config, { poolMax: 1 });
  await postgres('projects').where({ id }).update({ deleted_at: postgres.fn.now() });
  await postgres.destroy();
  expect(prepare(own)).toMatchObject({ status: 0, stderr: '' });
  expect(read().project_id).not.toBe(id);
});

test('npm run keys finds a project by its id, or by a name that one project has', async () => {
  const { organization_id: organizationId } = read();
  const postgres = createPostgres(own.config, { poolMax: 1 });
  const { SECRET_KEY_BASE: secretKeyBase } = own.config;
  const add = (name: string) => createProject(postgres, { organizationId, name, secretKeyBase });
  const keysOf = async (project: string) => {
    const env = { ...own.env, DATA_DIR: folder };
    const { status, output } = await runScript(['dist/cli/keys.js', '--project', project], env);
    return [status, /PUBLIC_KEY='?(\w+)/.exec(output)?.[1] ?? output];
  };
  const [former, shop, , two] = [await add('Shop'), await add('Shop'), await add('Twice'), await add('Twice')];
  await postgres('projects').where({ id: former.id }).update({ deleted_at: postgres.fn.now() });
  await postgres.destroy();
  expect(await keysOf('Shop')).toEqual([0, shop.publicKey]);
  expect(await keysOf(two.id)).toEqual([0, two.publicKey]);
  expect(await keysOf('Twice')).toEqual([2, '2 projects are called "Twice"; give the id\n']);
  expect(await keysOf('Once')).toEqual([2, 'there is no project "Once"\n']);
  expect(await keysOf(former.id)).toEqual([1, 'there is no such project\n']);
});

test('the organization of the installation belongs to the first person who signs in with its own provider', async () => {
  const postgres = createPostgres(own.config, { poolMax: 2 });
  const settings = { secretKeyBase: own.config.SECRET_KEY_BASE, quotas: own.config };
  const signIn = (provider: string, subject: string) => {
    const email = `${subject}@example.com`;
    return recordSignIn(postgres, { provider, subject, email, emailVerified: true, name: undefined }, settings);
  };
  const { id: empty } = await createOrganization(postgres, { name: 'Empty' });
  await signIn('google', 'cid');
  const ann = await signIn('local', 'ann');
  await signIn('local', 'bob');
  const ofInstallation = postgres('organizations').where({ is_standalone: true }).select('id');
  const members = postgres('members').whereIn('organization_id', ofInstallation);
  expect(await members.distinct('person_id', 'role')).toEqual([{ person_id: ann, role: 'owner' }]);
  expect(await postgres('members').where({ organization_id: empty })).toEqual([]);
  await postgres.destroy();
});
