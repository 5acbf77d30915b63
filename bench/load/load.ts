// Client of the load process, which is separate so that its CPU is accounted for separately.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadCommand, LoadOptions, LoadReport, LoadSummary, RunLimits } from './protocol.js';

/** The events that are stored, and how many may be answered beyond them. */
export interface StoredBound {
  readonly count: () => Promise<number>;
  /** Those that were stored before the run. */
  readonly before: number;
  readonly outstandingMax: number;
  readonly countEveryMs: number;
}

export class Load {
  readonly #process: ChildProcess;
  readonly #options: LoadOptions;

  private constructor(process: ChildProcess, options: LoadOptions) {
    this.#process = process;
    this.#options = options;
  }

  /** Resolves when the bodies are built. */
  static async start(options: LoadOptions): Promise<Load> {
    const load = new Load(fork(fileURLToPath(new URL('process.js', import.meta.url))), options);
    const prepared = load.#next('prepared');
    load.#send({ kind: 'prepare', options });
    await prepared;
    return load;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Resolves when the last request within the limits is answered. Rejects when one was refused. */
  async run(limits: RunLimits): Promise<LoadSummary> {
    const done = this.#next('done');
    this.#send({ kind: 'run', limits });
    const { summary } = await done;
    if (Object.keys(summary.refusals).length === 0) return summary;
    const { url, protocol = 'track' } = this.#options;
    throw new Error(`${protocol} at ${url} was refused: ${JSON.stringify(summary.refusals)}`);
  }

  /** Runs with a bound on the events that are answered and not yet stored. */
  async runWithin(
    limits: RunLimits,
    { count, before, outstandingMax, countEveryMs }: StoredBound,
  ): Promise<LoadSummary> {
    this.allow(outstandingMax);
    let isSending = true;
    const running = this.run(limits).finally(() => {
      isSending = false;
    });
    while (isSending) {
      await Promise.race([sleep(countEveryMs), running]);
      this.allow((await count()) - before + outstandingMax);
    }
    return running;
  }

  /** Sets the total number of events that the current run may send. */
  allow(events: number): void {
    this.#send({ kind: 'allow', events });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await ended;
  }

  #send(command: LoadCommand): void {
    this.#process.send(command);
  }

  #next<K extends LoadReport['kind']>(kind: K): Promise<Extract<LoadReport, { kind: K }>> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`the load process ended with code ${code}`));
      const onMessage = (message: LoadReport) => {
        if (message.kind !== kind) return;
        this.#process.off('message', onMessage).off('exit', onExit);
        resolve(message as Extract<LoadReport, { kind: K }>);
      };
      this.#process.on('message', onMessage).on('exit', onExit);
    });
  }
}
