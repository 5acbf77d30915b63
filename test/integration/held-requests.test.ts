// Requests whose body arrives after the role of their sender has ended.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { as, createTeam, createTeamProject, send, sessionCookie } from '../support/accounts.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

/** Ten times as long as the check of the role takes on a busy machine. */
const CHECKED_MS = 500;

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const FATES = {
  removed: { method: 'DELETE', role: undefined, status: 404 },
  demoted: { method: 'PATCH', role: { role: 'member' }, status: 403 },
} as const;
const RENAMING = { method: 'PATCH', path: '', body: JSON.stringify({ name: 'Mine' }) };
const FILES = [{ name: 'access.log', bytes: 0 }];
const IMPORTING = { method: 'POST', path: '/imports?source=access-log', body: `${JSON.stringify(FILES)}\n` };

test.each([
  ['removed', 'get the new secret key', RENAMING],
  ['demoted', 'get the new secret key', RENAMING],
  ['removed', 'import', IMPORTING],
  ['demoted', 'import', IMPORTING],
] as const)('an admin who is %s while the body arrives does not %s', async (fate, _act, request) => {
  const { method, role, status } = FATES[fate];
  const { organization, people } = await createTeam(postgres);
  const { id } = await createTeamProject(postgres, databases, organization.id);
  const { hostname, port } = new URL(processes.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const { body } = request;
  const head = [
    `${request.method} /api/projects/${id}${request.path} HTTP/1.1`,
    ...['Host: x', 'Connection: close', `Cookie: ${sessionCookie(people.admin.session)}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  await delay(CHECKED_MS);
  expect(answer).toBe('');

  const member = `/api/orgs/${organization.id}/members/${people.admin.id}`;
  const changed = await send(processes.url, `${method} ${member}`, as(people.owner, role));
  const rotated = await send(processes.url, `POST /api/projects/${id}/rotate-secret-key`, as(people.owner));
  expect([changed.status, rotated.status]).toEqual([200, 200]);
  socket.write(body.slice(1));
  await once(socket, 'close');
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).not.toContain(rotated.body.secret_key);
});
