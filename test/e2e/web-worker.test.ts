// One small machine: `web` answers queries and runs a worker beside itself (WEB_WORKER), as
// app.json sets it up.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { findProcess } from '../../standalone/process-identity.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { takePort } from '../support/take-port.js';
import { createTestProject, track } from '../support/track.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let env: Record<string, string>;
let keys: { publicKey: string; secretKey: string };

beforeAll(async () => {
  databases = await createTestDatabases();
  keys = await createTestProject(databases);
  const { env: settings } = JSON.parse(readFileSync(join(packageRoot, 'app.json'), 'utf8')) as {
    env: { WEB_WORKER: { value: string } };
  };
  const WEB_WORKER = settings.WEB_WORKER.value;
  env = { ...databases.env, WEB_WORKER, QUERY_URL: '', WORKER_PORT: String(await takePort()) };
  processes = await startProcesses(env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

/** The child of a process; undefined without one. */
function childOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return child === undefined ? undefined : Number(child);
}

const workerOf = (pid: number): Promise<number> =>
  eventually(() => {
    const child = childOf(pid);
    if (child === undefined) throw new Error('web has no worker');
    return child;
  });

async function count(): Promise<unknown> {
  const response = await fetch(`${processes.url}/query`, {
    method: 'POST',
    headers: { 'X-API-Key': keys.secretKey },
    body: JSON.stringify({ q: 'signup | count', format: 'json' }),
  });
  return ((await response.json()) as { rows?: { value: number }[] }).rows?.[0]?.value;
}

const send = async (): Promise<void> => {
  expect((await track(processes.url, keys.publicKey, { event_type: 'signup' })).status).toBe(200);
};

test('web alone accepts, stores and answers, and starts its worker again', async () => {
  await send();
  await eventually(async () => expect(await count()).toBe(1));
  const { pid } = processes.get('web');
  const worker = await workerOf(pid);
  process.kill(worker, 'SIGKILL');
  await send();
  await eventually(async () => expect(await count()).toBe(2));
  expect(await workerOf(pid)).not.toBe(worker);
});

test('the worker ends with web, also when web is killed', async () => {
  const killed = processes.get('web');
  const orphan = await workerOf(killed.pid);
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${env.WORKER_PORT}/readyz`)).status).toBe(200));
  await killed.kill('SIGKILL');
  await eventually(() => expect(findProcess(orphan)).toBeUndefined());

  const stopped = await processes.start('web');
  const worker = await workerOf(stopped.pid);
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${env.WORKER_PORT}/readyz`)).status).toBe(200));
  expect(await stopped.kill('SIGTERM')).toBe(0);
  expect(findProcess(worker)).toBeUndefined();
});
