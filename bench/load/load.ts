// Client of the load process, which is separate so that its CPU is accounted for separately.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadCommand, LoadOptions, LoadReport, LoadSummary, RunLimits } from './protocol.js';

export class Load {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Resolves when the bodies are built. */
  static async start(options: LoadOptions): Promise<Load> {
    const load = new Load(fork(fileURLToPath(new URL('process.js', import.meta.url))));
    const prepared = load.#next('prepared');
    load.#send({ kind: 'prepare', options });
    await prepared;
    return load;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Resolves when the last request within the limits is answered. */
  async run(limits: RunLimits): Promise<LoadSummary> {
    const done = this.#next('done');
    this.#send({ kind: 'run', limits });
    return (await done).summary;
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
