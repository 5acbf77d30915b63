// Supervises one child process: starts, checks, restarts and stops it.
//
// States: stopped → starting → ready, and back to starting after a pause when it ends by itself;
// stop() leads to stopped from every state. A process that is alive but no longer responds is
// killed and restarted. The pause doubles with each early end and is reset once the process has
// stayed up for a minute.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../src/platform/errors.js';
import { START_GATE } from '../src/platform/start-gate.js';
import { StartProblem } from './problem.js';

/** Rejection of a liveness check: the process answers, and must be started again at once. */
export class MustRestart extends Error {}

export interface LivenessCheck {
  /** Rejects when the process does not work, within the time. */
  readonly check: (timeoutMs: number) => Promise<void>;
  /** Longer than a process stalls on an overloaded machine. */
  readonly timeoutMs: number;
  readonly intervalMs: number;
  /** Consecutive failures. */
  readonly failuresMax: number;
}

/** A paused or busy engine recovers within less: it is killed after a minute without a reply. */
export const ENGINE_LIVENESS = { timeoutMs: 10_000, intervalMs: 10_000, failuresMax: 6 } as const;

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * Without the supervisor's environment, which contains the caller's secrets, except for what
   * programs generally need.
   */
  readonly isIsolated?: boolean;
  /** In addition to the supervisor's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The supervisor's by default. */
  readonly cwd?: string;
  /** Whether it calls passStartGate(): it loads its modules before its turn, and waits. */
  readonly hasGate?: boolean;
  /**
   * Runs before each start. When it rejects, the error is logged and the process is started anyway.
   */
  readonly beforeStart?: () => Promise<void>;
  /** Called with each line that the process prints; it may have ended since. */
  readonly onLine?: (line: string, child: Pick<ChildProcess, 'pid' | 'kill'>) => void;
  /** Rejects while the process is not ready. Called every 50 ms while it starts. */
  readonly checkReady: () => Promise<void>;
  readonly readyTimeoutMs: number;
  readonly liveness?: LivenessCheck;
  readonly stopSignal: NodeJS.Signals;
  readonly stopTimeoutMs: number;
  /** Signal for the process when its supervisor has died. */
  readonly orphanSignal: NodeJS.Signals;
}

export interface ProcessObserver {
  line(name: string, line: string): void;
  started(spec: ProcessSpec, pid: number): void;
  ended(name: string, pid: number): void;
  /** The process ended by itself and will be restarted after the pause. */
  restarting(name: string, reason: string, pauseMs: number): void;
}

const GENERAL_VARIABLES = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

const generalEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(GENERAL_VARIABLES.map((name) => [name, process.env[name]]));

const FIRST_PAUSE_MS = 200;
const PAUSE_MAX_MS = 30_000;
const STEADY_AFTER_MS = 60_000;
const OUTPUT_WAIT_MS = 1000;
/** A log line, or a line of a trace. */
const NO_SENTENCE = /^(?:[\s{}]|Node\.js v)/;

export class SupervisedProcess {
  readonly spec: ProcessSpec;
  readonly #observer: ProcessObserver;
  readonly #stopped = new AbortController();
  #child: ChildProcess | undefined;
  #exit: Promise<string> = Promise.resolve('never started');
  /** Resolves when its output has been read. */
  #closed: Promise<unknown> = Promise.resolve();
  #lastError = '';
  #watch: Promise<void> = Promise.resolve();

  constructor(spec: ProcessSpec, observer: ProcessObserver) {
    this.spec = spec;
    this.#observer = observer;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process before its turn: it waits at its gate, when it has one, until start(). */
  async load(): Promise<void> {
    await this.#spawn();
  }

  /**
   * Resolves when the process is ready for the first time; rejects with a StartProblem when it ends
   * or exceeds its time.
   */
  async start(): Promise<void> {
    if (this.#child === undefined) await this.#spawn();
    this.#openGate();
    await this.#becomeReady();
    this.#watch = this.#keepRunning();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#end(this.spec.stopSignal);
    await this.#watch;
  }

  /** Kills without a grace period. */
  kill(): void {
    this.#stopped.abort();
    this.#child?.kill('SIGKILL');
  }

  async #spawn(): Promise<void> {
    const { name, command, args, env, user, cwd, isIsolated, hasGate = false, beforeStart, onLine } = this.spec;
    await beforeStart?.().catch((error: unknown) => this.#observer.line(name, messageOf(error)));
    // stop() may have been called meanwhile.
    if (this.#stopped.signal.aborted) return;
    // In a separate process group, so that Ctrl-C reaches only the supervisor, which determines the
    // order of stopping.
    const child = spawn(command, hasGate ? [...args, START_GATE] : args, {
      env: { ...(isIsolated ? generalEnvironment() : process.env), ...env },
      stdio: [hasGate ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...user,
    });
    this.#child = child;
    const { pid } = child;
    child.stdin?.on('error', () => {});
    this.#lastError = '';
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) continue;
      createInterface({ input: output }).on('line', (line) => {
        if (output === child.stderr && line !== '') this.#lastError = line;
        this.#observer.line(name, line);
        onLine?.(line, child);
      });
    }
    if (pid !== undefined) this.#observer.started(this.spec, pid);
    let problem: string | undefined;
    void this.#watchLiveness(child, (found) => {
      problem = found;
    });
    this.#exit = new Promise((resolve) => {
      child.once('error', (error) => resolve(messageOf(error)));
      child.once('exit', (code, signal) => {
        if (pid !== undefined) this.#observer.ended(name, pid);
        resolve(problem ?? (signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`));
      });
    });
  }

  #openGate(): void {
    if (this.spec.hasGate) this.#child?.stdin?.end('start\n');
  }

  async #becomeReady(): Promise<void> {
    const { name, checkReady, readyTimeoutMs } = this.spec;
    const deadline = performance.now() + readyTimeoutMs;
    let ended: string | undefined;
    void this.#exit.then((reason) => {
      ended = reason;
    });
    for (;;) {
      const problem = await checkReady().then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      if (ended !== undefined) {
        throw new StartProblem(`${name} did not start: ${ended}${await this.#readProblem()}.`);
      }
      if (problem === undefined) return;
      if (performance.now() > deadline) {
        await this.#end('SIGKILL');
        throw new StartProblem(`${name} was not ready after ${readyTimeoutMs / 1000} s: ${problem}.`);
      }
      await delay(50);
    }
  }

  /** Processes of the service end with one line about a wrong setting; others show their errors. */
  async #readProblem(): Promise<string> {
    if (!this.spec.hasGate) return '';
    // Its child processes may still have its output.
    await Promise.race([this.#closed, delay(OUTPUT_WAIT_MS)]);
    return this.#lastError === '' || NO_SENTENCE.test(this.#lastError) ? '' : `: ${this.#lastError}`;
  }

  /** A process that has never answered since its start may still be loading, and is not killed. */
  async #watchLiveness(child: ChildProcess, found: (problem: string) => void): Promise<void> {
    if (this.spec.liveness === undefined) return;
    const { check, timeoutMs, intervalMs, failuresMax } = this.spec.liveness;
    const { signal } = this.#stopped;
    let failures: number | undefined;
    while (isRunning(child)) {
      await delay(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      let isBroken = false;
      const problem = await check(timeoutMs).then(
        () => undefined,
        (error: unknown) => {
          isBroken = error instanceof MustRestart;
          return messageOf(error);
        },
      );
      if (problem === undefined) failures = 0;
      else if (failures !== undefined) failures += 1;
      if (problem === undefined || signal.aborted || !isRunning(child)) continue;
      if (!isBroken && (failures ?? 0) < failuresMax) continue;
      found(isBroken ? problem : `it did not answer ${failuresMax} times in a row (${problem})`);
      child.kill('SIGKILL');
      return;
    }
  }

  async #keepRunning(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const since = performance.now();
      const reason = await this.#exit;
      if (this.#stopped.signal.aborted) return;
      if (performance.now() - since > STEADY_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      this.#observer.restarting(this.spec.name, reason, pauseMs);
      await delay(pauseMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
      await this.#spawn();
      this.#openGate();
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || !isRunning(child)) return;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), this.spec.stopTimeoutMs);
    await this.#exit;
    clearTimeout(timer);
  }
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
