// Supervisor: starts the whole stack in order (engines, preparation, processes of the Procfile with
// `web` last) and stops it in reverse order, so that accepted requests can still be processed. All
// processes load their modules at once; those of the service wait at their gate for their turn.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HOLDER_PID } from '../src/platform/config.js';
import { packageRoot } from '../src/platform/paths.js';
import { SETTINGS_OF_A_PROVIDER } from '../src/sign-in/provider.js';
import type { DataDirectory } from './data-directory.js';
import { readOrCreateSecrets, writePrivateFile } from './data-directory.js';
import { type Environment, type Ports, serviceEnvironment } from './environment.js';
import { findFreePort } from './free-port.js';
import type { InstanceLock } from './instance-lock.js';
import { chooseLocalSignIn } from './local-sign-in.js';
import { type MetricsServer, parseMetricsAddress, serveMetrics } from './metrics-server.js';
import { StartProblem } from './problem.js';
import { type ProcfileEntry, parseProcfile } from './procfile.js';
import type { FirstProject } from './standalone-file.js';
import { chooseStores, type Stores } from './stores.js';
import { type ProcessObserver, type ProcessSpec, SupervisedProcess } from './supervised-process.js';
import { type ChildOutput, say } from './terminal.js';

export interface SupervisorOptions {
  readonly caller: Environment;
  readonly directory: DataDirectory;
  readonly lock: InstanceLock;
  readonly output: ChildOutput;
  readonly host: string;
  readonly port: number;
  /** The public address. */
  readonly url: string;
  /** A shard that has lost its data and gets empty tables. */
  readonly lost?: number | undefined;
}

// Processes other than these start before `web`.
const LAST_TO_START = 'web';
const ONE_SHOT = 'release';
// Settings that operator commands need from a running service.
const OPERATOR_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_TLS',
  'REDIS_URL',
  'REDIS_TLS',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_DATABASE',
  'SECRET_KEY_BASE',
  'PUBLIC_URL',
  'QUERY_URL',
  'SMTP_URL',
  ...SETTINGS_OF_A_PROVIDER,
] as const;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #observer: ProcessObserver;
  /** In start order; the processes of a group start concurrently. */
  readonly #groups: SupervisedProcess[][] = [];
  #preparation: { kill(): void } | undefined;
  #metrics: MetricsServer | undefined;
  #isStopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const { lock, output } = options;
    this.#observer = {
      line: (name, line) => output.line(name, line),
      restarting: (name, reason, pauseMs) => output.restarting(name, reason, pauseMs),
      started: (spec, pid) => lock.addChild(spec, pid),
      ended: (_name, pid) => lock.removeChild(pid),
    };
  }

  /** Resolves with the first project when the service is ready. Rejects with a StartProblem. */
  async start(): Promise<FirstProject> {
    const { caller, directory, port, url } = this.#options;
    const metricsAddress = parseMetricsAddress(caller);
    const publicUrl = caller.PUBLIC_URL || url;
    if (!/^https?:\/\//.test(publicUrl) || !URL.canParse(publicUrl)) {
      throw new StartProblem(`PUBLIC_URL is ${publicUrl}; it has to be an address like https://analytics.example.com.`);
    }
    const signIn = await chooseLocalSignIn(caller, publicUrl);
    const secrets = readOrCreateSecrets(directory);
    const stores = await chooseStores({ caller, directory, secrets });

    const ports: Ports = { web: port, query: await findFreePort(), worker: await findFreePort() };
    const env = serviceEnvironment({
      ...{ caller, urls: stores.urls, ports, secrets, publicUrl },
      signIn: signIn?.env ?? {},
    });
    const enginesReady = this.#startEngines(stores.specs);
    // Awaited below: the other processes load their modules meanwhile.
    enginesReady.catch(() => {});
    const entries = parseProcfile(readFileSync(join(packageRoot, 'Procfile'), 'utf8'));
    const specs = entries.filter(({ name }) => name !== ONE_SHOT).map((entry) => this.#toSpec(entry, env, ports));
    const prepare = this.#loadPreparation(env, stores.superuserUrl !== undefined);
    const first = await this.#loadGroup(specs.filter(({ name }) => name !== LAST_TO_START));
    const last = await this.#loadGroup([
      ...specs.filter(({ name }) => name === LAST_TO_START),
      ...(signIn === undefined ? [] : [signIn.spec]),
    ]);
    await enginesReady;

    writePrivateFile(
      directory.serviceEnvironmentFile,
      Object.fromEntries([
        [HOLDER_PID, String(process.pid)],
        ['SERVICE_URL', url],
        ...OPERATOR_SETTINGS.map((name): [string, string | undefined] => [name, env[name]]),
      ]),
    );
    const firstProject = await prepare(stores.superuserUrl);
    await Promise.all(first.map((loaded) => loaded.start()));
    this.#metrics = await serveMetrics(metricsAddress, this.#metricsOf(ports), say);
    await Promise.all(last.map((loaded) => loaded.start()));
    return firstProject;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#preparation?.kill();
    rmSync(this.#options.directory.serviceEnvironmentFile, { force: true });
    this.#metrics?.close();
    for (const group of [...this.#groups].reverse()) await Promise.all(group.map((running) => running.stop()));
  }

  kill(): void {
    this.#isStopping = true;
    this.#preparation?.kill();
    for (const running of this.#groups.flat()) running.kill();
  }

  async #startEngines(specs: Stores['specs']): Promise<void> {
    const group: SupervisedProcess[] = [];
    this.#groups.push(group);
    const start = async (spec: ProcessSpec | Promise<ProcessSpec>) => {
      const engine = new SupervisedProcess(await spec, this.#observer);
      this.#requireStarting();
      group.push(engine);
      await engine.start();
    };
    await Promise.all(specs.map(start));
  }

  /** The processes wait for their start() before they use a store. */
  async #loadGroup(specs: readonly ProcessSpec[]): Promise<readonly SupervisedProcess[]> {
    this.#requireStarting();
    const group = specs.map((spec) => new SupervisedProcess(spec, this.#observer));
    this.#groups.push(group);
    await Promise.all(group.map((loading) => loading.load()));
    return group;
  }

  #requireStarting(): void {
    if (this.#isStopping) throw new StartProblem('Stopped while starting.');
  }

  /**
   * Loads the process; the returned function runs it. With the superuser's URL, it creates the
   * accounts and the database of the embedded PostgreSQL.
   */
  #loadPreparation(env: Environment, isCreating: boolean): (superuserUrl: string | undefined) => Promise<FirstProject> {
    this.#requireStarting();
    const { directory, url, output, lost } = this.#options;
    const main = join(packageRoot, 'dist', 'processes', 'prepare.js');
    const args = [main, '--standalone-file', directory.standaloneFile, '--url', url];
    if (isCreating) args.push('--create-database');
    if (lost !== undefined) args.push('--lost', String(lost));
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    child.stdin?.on('error', () => {});
    let firstProject: FirstProject | undefined;
    child.once('message', (message) => {
      firstProject = message as FirstProject;
    });
    this.#preparation = child;
    let errors = '';
    child.stdout?.on('data', (text: Buffer) => output.line('prepare', text.toString().trimEnd()));
    child.stderr?.on('data', (text: Buffer) => {
      errors += text;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    return async (superuserUrl) => {
      this.#requireStarting();
      child.stdin?.end(superuserUrl ?? '');
      const status = await ended;
      this.#preparation = undefined;
      if (status === 0 && firstProject !== undefined) {
        // Shards without which the service starts.
        if (errors !== '') say(errors.trim());
        return firstProject;
      }
      throw new StartProblem(errors.trim().split('\n').at(-1) || 'The preparation failed.');
    };
  }

  #metricsOf(ports: Ports): ReadonlyMap<string, string> {
    return new Map(Object.entries(ports).map(([name, port]) => [name, `http://${this.#hostOf(name)}:${port}/metrics`]));
  }

  #hostOf(name: string): string {
    return name === LAST_TO_START ? reachableHost(this.#options.host) : '127.0.0.1';
  }

  #toSpec({ name, command, args }: ProcfileEntry, env: Environment, ports: Ports): ProcessSpec {
    const port = new Map<string, number>(Object.entries(ports)).get(name);
    return {
      name,
      command: command === 'node' ? process.execPath : command,
      args: args.map((argument) => (argument.startsWith('dist/') ? join(packageRoot, argument) : argument)),
      env,
      hasGate: true,
      checkReady: async () => {
        if (port !== undefined) await requireReady(`http://${this.#hostOf(name)}:${port}/readyz`);
      },
      readyTimeoutMs: 60_000,
      stopSignal: 'SIGTERM',
      // Longer than the shutdown timeout of the processes themselves.
      stopTimeoutMs: 35_000,
      // They hold no data outside the stores, and would wait for stores that are ending too.
      orphanSignal: 'SIGKILL',
    };
  }
}

/** The address on which this machine reaches a server that listens on `host`. */
export const reachableHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' || host === '' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

async function requireReady(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
  if (!response.ok) throw new Error((await response.text()).slice(0, 300));
}
