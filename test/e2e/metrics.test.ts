// Every alert and panel of ops/ has data, in the processes of the Procfile and in `npm start`: by
// the pages of /metrics, and by a real Prometheus with the configurations of ops/prometheus.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { runProgram } from '../support/programs.js';
import {
  hasSample,
  PROMETHEUS_FOLDER,
  type Prometheus,
  readAlerts,
  readPanels,
  selectorsOf,
  toMeasurement,
  tryStartPrometheus,
} from '../support/prometheus.js';
import {
  createTestDatabases,
  type ProcessGroup,
  startProcesses,
  startStandalone,
  type TestDatabases,
  type TestStandalone,
} from '../support/stack.js';
import { takePort } from '../support/take-port.js';
import { createTestProject, track } from '../support/track.js';

const PROCESSES = ['web', 'query', 'worker'] as const;
// A disabled feature answers 503, and a second query within the second 429.
const FAILING = { FEATURES_OFF: 'privacy', QUERY_REQUESTS_PER_SECOND: '1' };
const MEASUREMENTS = [
  ...readAlerts().map(({ alert, expr }) => ({ name: alert, expr: toMeasurement(expr) })),
  ...readPanels().map(({ title, expr }) => ({ name: title, expr })),
];

interface Stack {
  readonly url: string;
  readonly publicKey: string;
  readonly secretKey: string;
  /** Address of /metrics of a process. */
  readonly metricsOf: (name: (typeof PROCESSES)[number]) => string;
  readonly prometheus: Prometheus | undefined;
}

let databases: TestDatabases;
let processes: ProcessGroup;
let standalone: TestStandalone;
const dataDirectory = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
const stacks: Record<string, Stack> = {};

async function startProcfile(): Promise<void> {
  databases = await createTestDatabases(FAILING);
  processes = await startProcesses(databases.env);
  const { publicKey, secretKey } = await createTestProject(databases);
  const metricsOf: Stack['metricsOf'] = (name) => `${processes.get(name).url}/metrics`;
  const prometheus = await tryStartPrometheus('prometheus.yml', (config) =>
    config.replace(/(web|query|worker):\d+/g, (_, name: (typeof PROCESSES)[number]) => new URL(metricsOf(name)).host),
  );
  stacks.Procfile = { url: processes.url, publicKey, secretKey, metricsOf, prometheus };
}

async function startNpmStart(): Promise<void> {
  const port = await takePort();
  standalone = await startStandalone({ dataDirectory, env: { ...FAILING, METRICS_PORT: String(port) } });
  const { url, public_key: publicKey, secret_key: secretKey } = await standalone.ready();
  const prometheus = await tryStartPrometheus('standalone.yml', (config) => config.replaceAll('9464', String(port)));
  const metricsOf: Stack['metricsOf'] = (name) => `http://127.0.0.1:${port}/metrics/${name}`;
  stacks['npm start'] = { url, publicKey, secretKey, metricsOf, prometheus };
}

beforeAll(async () => {
  await Promise.all([startProcfile(), startNpmStart()]);
});

afterAll(async () => {
  for (const { prometheus } of Object.values(stacks)) await prometheus?.stop();
  standalone?.signal('SIGTERM');
  await Promise.all([standalone?.ended(), processes?.stop()]);
  await databases?.close();
  rmSync(dataDirectory, { recursive: true, force: true });
});

/** Events, queries, and each kind of failure that has a panel. */
async function sendTraffic({ url, publicKey, secretKey }: Stack): Promise<void> {
  await track(url, publicKey, { events: [{ event_type: 'signup' }, { event_type: 7 }] });
  const identified = { user_id: 'ann', device_id: 'd-1', user_properties: { plan: 'pro' } };
  await fetch(`${url}/identify`, {
    method: 'POST',
    headers: { 'X-API-Key': publicKey },
    body: JSON.stringify(identified),
  });
  await fetch(`${url}/e/`, { method: 'POST', body: JSON.stringify({ token: publicKey, event: '$groupidentify' }) });
  const ask = (q: string) =>
    fetch(`${url}/query`, { method: 'POST', headers: { 'X-API-Key': secretKey }, body: JSON.stringify({ q }) });
  await Promise.all(['signup | count', 'signup | count by day', 'no query [', 'signup | count', '* | count'].map(ask));
  await fetch(`${url}/api/gdpr/audit`, { headers: { 'X-API-Key': secretKey } });
}

function stackOf(name: string): Stack {
  const stack = stacks[name];
  if (stack === undefined) throw new Error(`${name} did not start`);
  return stack;
}

test('promtool accepts the configurations, and every alert fires in its test', (context) => {
  const configurations = Object.values(stacks).flatMap(({ prometheus }) => prometheus?.configFile ?? []);
  if (configurations.length === 0) context.skip('prometheus is not installed: the rules are not tested');
  for (const file of configurations) runProgram('promtool', ['check', 'config', file], 'prometheus');
  runProgram('promtool', ['test', 'rules', join(PROMETHEUS_FOLDER, 'alerts.test.yml')], 'prometheus');
});

describe.each(['Procfile', 'npm start'])('%s', (name) => {
  test('exports every series and label of the alerts and panels', async () => {
    const stack = stackOf(name);
    await eventually(async () => {
      await sendTraffic(stack);
      const pages = await Promise.all(PROCESSES.map(async (process) => (await fetch(stack.metricsOf(process))).text()));
      const page = pages.join('\n');
      const missing = MEASUREMENTS.flatMap(({ expr }) => selectorsOf(expr)).filter(
        (selector) => !hasSample(page, selector),
      );
      expect(missing).toEqual([]);
    });
  });

  test('has data for every alert and panel in Prometheus', async (context) => {
    const stack = stackOf(name);
    const { prometheus } = stack;
    if (prometheus === undefined) return context.skip('prometheus is not installed: only the series are checked');
    await eventually(async () => {
      await sendTraffic(stack);
      const up = await prometheus.evaluate('up == 1');
      expect(up.map(({ metric }) => metric.process).sort()).toEqual([...PROCESSES].sort());
      const isEmpty = await Promise.all(
        MEASUREMENTS.map(async ({ expr }) => {
          const samples = await prometheus.evaluate(expr);
          return !samples.some(({ value: [, value] }) => value !== 'NaN');
        }),
      );
      expect(MEASUREMENTS.filter((_, index) => isEmpty[index])).toEqual([]);
    }, 120_000);
  });
});

test('npm start names the paths of its metrics, and fails a scrape of a process that does not answer', async () => {
  const stack = stackOf('npm start');
  const list = await fetch(new URL('/', stack.metricsOf('web')));
  expect([list.status, await list.text()]).toEqual([
    404,
    'The metrics are at:\n/metrics/web\n/metrics/query\n/metrics/worker\n',
  ]);
  const worker = standalone.pids().get('worker') ?? 0;
  process.kill(worker, 'SIGSTOP');
  try {
    expect((await fetch(stack.metricsOf('worker'))).status).toBe(502);
  } finally {
    process.kill(worker, 'SIGCONT');
  }
});
