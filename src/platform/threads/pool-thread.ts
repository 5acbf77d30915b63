// One worker thread of the pool: runs one request at a time, with a deadline and a memory limit.
// Above its memory limit a thread ends and the process goes on, in Node 20 and 22 always. When a
// thread fills its heap with objects of several KB, V8 may end the whole process in Node 24, and
// in Node 26 the thread goes on until its deadline.
import { Worker } from 'node:worker_threads';
import { PublicError } from '../errors.js';
import type { ThreadReply, ThreadRequest } from './thread-task.js';

export interface ThreadLimits {
  /** Deadline of one task, from when the modules of its thread are loaded. */
  readonly deadlineMs: number;
  readonly memoryMebibytes: number;
  /** The thread ends after this time without tasks. */
  readonly idleMs: number;
}

/** Maximum time for loading the modules of a task. */
const START_MS = 30_000;

interface Running {
  readonly tooCostly: string;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** States: idle (ends after `idleMs`), running (terminated at the deadline), ended (final). */
export class PoolThread {
  readonly #worker: Worker;
  readonly #limits: ThreadLimits;
  readonly #onEnd: () => void;
  #running: Running | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(entry: URL, limits: ThreadLimits, onEnd: () => void) {
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#worker = new Worker(entry, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMebibytes },
    });
    // It does not keep an otherwise idle process alive.
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread ended in the middle of a task')));
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** `moved`: buffers of the request that the thread gets instead of a copy. */
  run(request: ThreadRequest, tooCostly: string, moved: readonly ArrayBuffer[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#running = { tooCostly, resolve, reject };
      this.#endAfter(START_MS, new PublicError('unavailable', 'the service is overloaded; try again'));
      this.#worker.postMessage(request, moved);
    });
  }

  /** Terminates the thread and rejects its running task. */
  async end(
    error: unknown = new PublicError('unavailable', 'the service is being restarted; try again'),
  ): Promise<void> {
    this.#fail(error);
    await this.#worker.terminate();
  }

  #receive(reply: ThreadReply): void {
    const running = this.#running;
    if (running === undefined) return;
    if (reply.kind === 'started') {
      this.#endAfter(this.#limits.deadlineMs, tooCostly(running, `${this.#limits.deadlineMs} ms`));
      return;
    }
    this.#running = undefined;
    this.#endAfter(this.#limits.idleMs, undefined);
    if (reply.kind === 'done') running.resolve(reply.output);
    else if (reply.kind === 'failed') running.reject(reply.error);
    else running.reject(new PublicError(reply.error.kind, reply.error.message, toOptions(reply.error.details)));
  }

  /** The thread has ended, or is about to. */
  #fail(error: unknown): void {
    clearTimeout(this.#timer);
    const running = this.#running;
    this.#running = undefined;
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#onEnd();
    }
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    running?.reject(isMemory ? tooCostly(running, `${this.#limits.memoryMebibytes} MiB of memory`) : error);
  }

  #endAfter(ms: number, error: PublicError | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.end(error), ms);
    this.#timer.unref();
  }
}

const tooCostly = (running: Running, limit: string): PublicError =>
  new PublicError('bad_request', running.tooCostly.replace('{limit}', limit));

const toOptions = (details: readonly unknown[] | undefined) => (details === undefined ? {} : { details });
