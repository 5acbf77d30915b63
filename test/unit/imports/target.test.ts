import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveTarget } from '../../../src/imports/target.js';

let dataDirectory = '';
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'import-target-'));
  await writeFile(join(dataDirectory, 'standalone.json'), '{"url":"http://127.0.0.1:8080","secret_key":"sk_own"}');
});
afterAll(() => rm(dataDirectory, { recursive: true }));

const OWN = { url: 'http://127.0.0.1:8080', key: 'sk_own' };
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
  ['another key of the running service', { ...none, key: 'sk_2' }, {}, { ...OWN, key: 'sk_2' }],
] as const;

test.each(CASES)('%s', async (_rule, given, environment, expected) => {
  expect(await resolveTarget(given, { ...environment, dataDirectory })).toEqual(expected);
});

test('the key of the running service never goes to another one', async () => {
  await expect(resolveTarget({ url: 'http://h', key: undefined }, { dataDirectory })).rejects.toThrow(
    '--url needs --key',
  );
});

test('a public key will not do', async () => {
  await expect(resolveTarget({ ...none, key: 'pk_1' }, { dataDirectory })).rejects.toThrow('needs a secret key');
});

test('without a service it says what to do', async () => {
  await expect(resolveTarget(none, { dataDirectory: '/nonexistent' })).rejects.toThrow('run "npm start" first');
});
