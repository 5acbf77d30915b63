// Imports of the console that do not come to their end: the client leaves, the service stops, or
// its disk is full. The audit trail says so, no file is left behind, and the next import of the
// project runs.
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { tryMountSmallDisk } from '../../faults/inject.js';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject, sessionCookie, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const LINE = '203.0.113.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n';
/** More than are imported within seconds. */
const LINES = 300_000;
const DISK_MEBIBYTES = 64;

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let team: TestTeam;
let project: NewProject;
let folder: string;
/** The folder is one, where mounting is permitted. */
let disk: ReturnType<typeof tryMountSmallDisk>;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  folder = mkdtempSync(join(tmpdir(), 'import-uploads-'));
  disk = tryMountSmallDisk(folder, DISK_MEBIBYTES);
  team = await createTeam(postgres);
  processes = await startProcesses({ ...databases.env, TMPDIR: folder }, ['web', 'query']);
});

beforeEach(async () => {
  project = await createTeamProject(postgres, databases, team.organization.id);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
  disk?.unmount();
  rmSync(folder, { recursive: true });
});

function upload(lines: number, signal?: AbortSignal): Promise<Response> {
  const text = LINE.repeat(lines);
  return fetch(`${processes.url}/api/projects/${project.id}/imports?source=access-log`, {
    method: 'POST',
    headers: { cookie: sessionCookie(team.people.owner.session), 'Content-Type': 'application/octet-stream' },
    body: `${JSON.stringify([{ name: 'access.log', bytes: text.length }])}\n${text}`,
    ...(signal && { signal }),
  });
}

const trail = async () =>
  (await postgres('audit_entries').where({ project_id: project.id }).orderBy('at')).map(
    ({ action, outcome }: Record<string, string>) => `${action} ${outcome}`,
  );

async function isEndedAs(outcome: string): Promise<void> {
  await eventually(async () => expect(await trail()).toEqual(['import.begun accepted', `import.ended ${outcome}`]));
  await eventually(async () => expect(readdirSync(folder)).toEqual([]));
}

test('an import whose client leaves is cancelled, and the next one runs', async () => {
  const leaving = new AbortController();
  const answer = await upload(LINES, leaving.signal);
  expect(answer.status).toBe(200);
  expect(await trail()).toEqual(['import.begun accepted']);
  expect((await upload(1)).status).toBe(429);
  leaving.abort();
  await isEndedAs('cancelled');
  expect((await upload(0)).status).toBe(200);
});

test('an import that runs when the service stops says so, and the next one runs', async () => {
  const answer = await upload(LINES);
  const stopped = processes.get('web').kill('SIGTERM');
  const lines = (await answer.text()).trim().split('\n');
  expect(await stopped).toBe(0);
  expect(lines).toContain(
    '{"error":"the service is being restarted; import again: what was imported is not counted twice"}',
  );
  await isEndedAs('cancelled');
  await processes.start('web');
  expect((await upload(0)).status).toBe(200);
});

test('an import for which the disk has no room says so, and the next one runs', async ({ skip }) => {
  if (disk === undefined) return skip();
  // The import before has answered, and may still run.
  await eventually(() => expect(readdirSync(folder)).toEqual([]));
  const filler = join(folder, 'filler');
  expect(() => {
    for (;;) appendFileSync(filler, Buffer.alloc(2 ** 20));
  }).toThrow('ENOSPC');
  const refused = await upload(LINES / 100);
  expect(await refused.json()).toEqual({ error: 'the disk of the service for temporary files (TMPDIR) is full' });
  expect(refused.status).toBe(503);
  expect(readdirSync(folder)).toEqual(['filler']);
  rmSync(filler);
  expect((await upload(0)).status).toBe(200);
});
