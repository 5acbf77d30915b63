// A real Prometheus scrapes the three processes, and the rules of ops/prometheus find every series
// they name.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { findFreePort } from '../../standalone/free-port.js';
import { eventually } from '../support/eventually.js';
import { runProgram } from '../support/programs.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

const RULES = join(packageRoot, 'ops', 'prometheus');

let databases: TestDatabases;
let processes: ProcessGroup;
let prometheus: ChildProcess;
let prometheusUrl: string;
let folder: string;

beforeAll(async () => {
  databases = await createTestDatabases();
  processes = await startProcesses(databases.env);
  folder = mkdtempSync(join(tmpdir(), 'event-analytics-prometheus-'));
  const config = readFileSync(join(RULES, 'prometheus.yml'), 'utf8')
    .replace('15s', '1s')
    .replace('alerts.yml', join(RULES, 'alerts.yml'))
    .replace(/(web|query|worker):\d+/g, (_, name: string) => new URL(processes.get(name).url).host);
  writeFileSync(join(folder, 'prometheus.yml'), config);
  const port = await findFreePort();
  prometheusUrl = `http://127.0.0.1:${port}`;
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  await new Promise((resolve, reject) => {
    prometheus.once('spawn', resolve);
    prometheus.once('error', () => reject(new Error('prometheus is missing: install the package prometheus')));
  });
});

afterAll(async () => {
  if (prometheus?.exitCode === null) {
    const ended = new Promise((resolve) => prometheus.once('exit', resolve));
    prometheus.kill();
    await ended;
  }
  if (folder !== undefined) rmSync(folder, { recursive: true });
  await processes?.stop();
  await databases?.close();
});

async function evaluate(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
  const response = await fetch(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(expression)}`);
  return ((await response.json()) as { data: { result: [] } }).data.result;
}

test('promtool accepts the configuration, and every alert fires in its test', () => {
  runProgram('promtool', ['check', 'config', join(folder, 'prometheus.yml')], 'prometheus');
  runProgram('promtool', ['test', 'rules', join(RULES, 'alerts.test.yml')], 'prometheus');
});

test('Prometheus scrapes every process and finds every series of the rules', async () => {
  const project = await createTestProject(databases);
  await track(processes.url, project.publicKey, { event_type: 'signup' });
  await fetch(`${processes.url}/query`, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey },
    body: JSON.stringify({ q: 'signup | count' }),
  });
  await eventually(async () => {
    expect((await evaluate('up == 1')).map(({ metric }) => metric.process).sort()).toEqual(['query', 'web', 'worker']);
    for (const series of [
      'ingest_lag_seconds < 60',
      'queue_oldest_waiting_seconds{queue="ingest"}',
      'queue_jobs{queue="ingest",state="failed"} == 0',
      'ingest_insert_failures_total',
      'ingest_insert_rows_sum > 0',
      'ingest_events_accepted_total == 1',
      'http_request_duration_seconds_count{route="/track",status="200"} == 1',
      'query_duration_seconds_bucket{mode="aggregate"}',
      'event_loop_delay_max_seconds{process="web"} >= 0',
      'event_loop_delay_p99_seconds{process="query"} >= 0',
    ]) {
      expect(await evaluate(series), series).not.toEqual([]);
    }
  }, 60_000);
});
