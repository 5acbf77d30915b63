// One child process, kept running.
//
// States: stopped → starting → ready, and back to starting after a pause whenever it ends by itself; stop() leads to stopped
// from every state. The pause doubles with each early end and is forgotten once the process has stayed up for a minute.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf, StartProblem } from './problem.js';

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Without the supervisor's own environment, which holds the caller's secrets, but for what programs in general need. */
  readonly isIsolated?: boolean;
  /** Beside the supervisor's own environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Without, it is the supervisor's own. */
  readonly cwd?: string;
  /** Runs before each start. When it rejects, the error is logged and the process started all the same. */
  readonly beforeStart?: () => Promise<void>;
  /** Called with each line that the process prints. */
  readonly onLine?: (line: string, pid: number) => void;
  /** Rejects as long as the process does not do its work. Asked every 50 ms while it starts. */
  readonly checkReady: () => Promise<void>;
  readonly readyTimeoutMs: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopTimeoutMs: number;
  /** Ends it when its supervisor is gone, and the other processes with it. */
  readonly orphanSignal: NodeJS.Signals;
}

export interface ProcessObserver {
  line(name: string, line: string): void;
  started(spec: ProcessSpec, pid: number): void;
  ended(name: string, pid: number): void;
  /** The process ended by itself and will be started again after the pause. */
  restarting(name: string, reason: string, pauseMs: number): void;
}

const GENERAL_VARIABLES = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

const generalEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(GENERAL_VARIABLES.map((name) => [name, process.env[name]]));

const FIRST_PAUSE_MS = 200;
const PAUSE_MAX_MS = 30_000;
const STEADY_AFTER_MS = 60_000;

export class SupervisedProcess {
  readonly spec: ProcessSpec;
  readonly #observer: ProcessObserver;
  readonly #stopped = new AbortController();
  #child: ChildProcess | undefined;
  #exit: Promise<string> = Promise.resolve('never started');
  #watch: Promise<void> = Promise.resolve();

  constructor(spec: ProcessSpec, observer: ProcessObserver) {
    this.spec = spec;
    this.#observer = observer;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process is ready for the first time; rejects with a StartProblem when it ends or takes too long. */
  async start(): Promise<void> {
    await this.#spawn();
    await this.#becomeReady();
    this.#watch = this.#keepRunning();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#end(this.spec.stopSignal);
    await this.#watch;
  }

  /** For the impatient: no grace. */
  kill(): void {
    this.#stopped.abort();
    this.#child?.kill('SIGKILL');
  }

  async #spawn(): Promise<void> {
    const { name, command, args, env, user, cwd, isIsolated, beforeStart, onLine } = this.spec;
    await beforeStart?.().catch((error: unknown) => this.#observer.line(name, reasonOf(error)));
    // stop() may have been called meanwhile.
    if (this.#stopped.signal.aborted) return;
    // In a process group of its own, so that Ctrl-C reaches the supervisor only and the order of stopping is its own.
    const child = spawn(command, args, {
      env: { ...(isIsolated ? generalEnvironment() : process.env), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...user,
    });
    this.#child = child;
    const { pid } = child;
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        this.#observer.line(name, line);
        if (pid !== undefined) onLine?.(line, pid);
      });
    }
    if (pid !== undefined) this.#observer.started(this.spec, pid);
    this.#exit = new Promise((resolve) => {
      child.once('error', (error) => resolve(reasonOf(error)));
      child.once('exit', (code, signal) => {
        if (pid !== undefined) this.#observer.ended(name, pid);
        resolve(signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`);
      });
    });
  }

  async #becomeReady(): Promise<void> {
    const { name, checkReady, readyTimeoutMs } = this.spec;
    const deadline = Date.now() + readyTimeoutMs;
    let ended: string | undefined;
    void this.#exit.then((reason) => {
      ended = reason;
    });
    for (;;) {
      const problem = await checkReady().then(
        () => undefined,
        (error: unknown) => reasonOf(error),
      );
      if (ended !== undefined) throw new StartProblem(`${name} did not start: ${ended}.`);
      if (problem === undefined) return;
      if (Date.now() > deadline) {
        await this.#end('SIGKILL');
        throw new StartProblem(`${name} was not ready after ${readyTimeoutMs / 1000} s: ${problem}.`);
      }
      await delay(50);
    }
  }

  async #keepRunning(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const since = Date.now();
      const reason = await this.#exit;
      if (this.#stopped.signal.aborted) return;
      if (Date.now() - since > STEADY_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      this.#observer.restarting(this.spec.name, reason, pauseMs);
      await delay(pauseMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
      await this.#spawn();
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), this.spec.stopTimeoutMs);
    await this.#exit;
    clearTimeout(timer);
  }
}
