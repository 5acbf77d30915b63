// Address and key of an import: command line, environment, or the running service.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStandalone, resolveTarget } from '../../../src/imports/target.js';
import { UsageError } from '../../../src/platform/usage-error.js';

let dataDirectory = '';
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'import-target-'));
  await writeFile(
    join(dataDirectory, 'standalone.json'),
    '{"url":"http://127.0.0.1:8080","project_id":"p","secret_key":"sk_rotated_since"}',
  );
});
afterAll(() => rm(dataDirectory, { recursive: true }));

const readSecretKey = async (projectId: string) => `sk_own_${projectId}`;
const OWN = { url: 'http://127.0.0.1:8080', key: 'sk_own_p' };
const GIVEN = { url: 'http://h', key: 'sk_given' };
const none = { url: undefined, key: undefined };

const CASES = [
  ['the running service', none, {}, OWN],
  ['the command line before the environment', GIVEN, { SERVICE_URL: 'http://e', SERVICE_KEY: 'sk_e' }, GIVEN],
  [
    'the environment before the running service',
    none,
    { SERVICE_URL: 'http://e', SERVICE_KEY: 'sk_e' },
    { url: 'http://e', key: 'sk_e' },
  ],
  ['the project that is named', { ...none, project: 'q' }, { SERVICE_KEY: 'sk_e' }, { ...OWN, key: 'sk_own_q' }],
  ['another key of the running service', { ...none, key: 'sk_2' }, {}, { ...OWN, key: 'sk_2' }],
] as const;

test.each(CASES)('resolveTarget() uses %s', async (_rule, given, environment, expected) => {
  expect(await resolveTarget(given, { ...environment, dataDirectory, readSecretKey })).toEqual(expected);
});

test('resolveTarget() never uses the key of the running service for another URL', async () => {
  await expect(resolveTarget({ url: 'http://h', key: undefined }, { dataDirectory, readSecretKey })).rejects.toThrow(
    '--url needs --key',
  );
});

test('resolveTarget() refuses a public key', async () => {
  await expect(resolveTarget({ ...none, key: 'pk_1' }, { dataDirectory, readSecretKey })).rejects.toThrow(
    'needs a secret key',
  );
});

test('resolveTarget() advises to start the service when none runs', async () => {
  await expect(resolveTarget(none, { dataDirectory: '/nonexistent', readSecretKey })).rejects.toThrow(
    'run "npm start" first, or give --url and --key',
  );
  // As npm run keys, which has neither option.
  await expect(readStandalone('/nonexistent', 'set SERVICE_URL')).rejects.toThrow('first, or set SERVICE_URL');
});

test('resolveTarget() says of an argument that is wrong only what is wrong with it', async () => {
  const several = () => Promise.reject(new UsageError('2 projects are called "q"; give the id'));
  const given = { ...none, project: 'q' };
  await expect(resolveTarget(given, { dataDirectory, readSecretKey: several })).rejects.toThrow(
    /^2 projects are called "q"; give the id$/,
  );
});

test('resolveTarget() asks for --key when the key cannot be read', async () => {
  const stopped = () => Promise.reject(new Error('no running service found at data'));
  await expect(resolveTarget(none, { dataDirectory, readSecretKey: stopped })).rejects.toThrow(
    'the key of the service cannot be read: no running service found at data; give --key',
  );
  const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]);
  await expect(resolveTarget(none, { dataDirectory, readSecretKey: () => Promise.reject(refused) })).rejects.toThrow(
    'the key of the service cannot be read: connect ECONNREFUSED ::1:5432; give --key',
  );
  const undecipherable = async () => null;
  await expect(resolveTarget(none, { dataDirectory, readSecretKey: undecipherable })).rejects.toThrow(
    'because SECRET_KEY_BASE has changed; give --key',
  );
});
