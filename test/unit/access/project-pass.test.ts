// Signed pass that the web process sends to the query process on behalf of a signed-in person.
import { expect, test } from 'vitest';
import { createProjectPasses } from '../../../src/access/project-pass.js';
import { createSignedClaims } from '../../../src/access/signed-claims.js';
import { toProjectId } from '../../../src/platform/ids.js';

const PROJECT = toProjectId('0197f000-0000-7000-8000-000000000001');
const OTHER = '0197f000-0000-7000-8000-000000000002';
const passes = createProjectPasses('a'.repeat(32));
const PERSON = '0197f000-0000-7000-8000-000000000003';
const admitted = { projectId: PROJECT, personId: PERSON, timezone: 'America/Argentina/Buenos_Aires' };
const pass = passes.issue(admitted, 1000);
const [, , zone, expiresAt, signature] = pass.split('.');

test('a pass is valid for its project and person for half a minute', () => {
  expect(passes.tryRead(pass, 1000)).toEqual(admitted);
  expect(passes.tryRead(pass, 30_999)).toEqual(admitted);
  expect(passes.tryRead(pass, 31_000)).toBeUndefined();
});

test.each([
  ['another project', `${OTHER}.${PERSON}.${zone}.${expiresAt}.${signature}`],
  ['another person', `${PROJECT}.${OTHER}.${zone}.${expiresAt}.${signature}`],
  ['a later end', `${PROJECT}.${PERSON}.${zone}.${Number(expiresAt) + 1}.${signature}`],
  ['another time zone', `${PROJECT}.${PERSON}.UTC.${expiresAt}.${signature}`],
  ['no signature', `${PROJECT}.${PERSON}.${zone}.${expiresAt}.`],
  ['half a signature', pass.slice(0, -20)],
  ['another secret', createProjectPasses('b'.repeat(32)).issue(admitted, 1000)],
  ['nothing', ''],
  ['dots', '..'],
])('tryRead() rejects a pass with %s', (_, text) => {
  expect(passes.tryRead(text, 1000)).toBeUndefined();
});

test('a claim that was signed for one purpose is none for another', () => {
  const [links, clients] = ['links', 'clients'].map((purpose) => createSignedClaims('a'.repeat(32), purpose));
  const signed = links?.sign('claim') ?? '';
  expect([links?.tryRead(signed), clients?.tryRead(signed)]).toEqual(['claim', undefined]);
});
