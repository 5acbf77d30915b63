// Pool of worker threads for work that would block an event loop: parsing and validating tenants'
// input. Each task has a deadline, after which its thread is terminated; threads have a memory
// limit; the queue is fair between owners (projects), and one owner never uses all threads.
//
// Implemented on node:worker_threads: piscina and tinypool have neither fairness nor a deadline
// that begins with the run, and in piscina 5 a task with an abort signal waits in a queue beside
// the bounded one.
import { Counter, Gauge, type Registry } from 'prom-client';
import { PublicError } from '../errors.js';
import { BOUNDS } from '../flow/bounds.js';
import { KeyedCount } from '../flow/keyed-count.js';
import { RoundRobin } from '../flow/round-robin.js';
import { bundledUrl } from './bundled-url.js';
import { PoolThread, type ThreadLimits } from './pool-thread.js';
import type { ThreadTask } from './thread-task.js';

export interface ThreadPoolOptions extends Partial<ThreadLimits> {
  readonly threadsMax: number;
  /** Maximum of waiting tasks: of all owners, and of one. */
  readonly waitingMax?: number;
  readonly waitingPerOwnerMax?: number;
  readonly metrics?: Registry;
}

interface Waiting {
  readonly owner: string;
  readonly task: ThreadTask<never, unknown>;
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

// A thread holds some tens of megabytes. Loading one again costs about 100 ms.
const IDLE_MS = 30_000;

const DEFAULTS: ThreadLimits = {
  deadlineMs: BOUNDS.threadTaskMs,
  memoryMebibytes: BOUNDS.threadMemoryBytes / (1024 * 1024),
  idleMs: IDLE_MS,
};

const ENTRY = new URL(bundledUrl(new URL('thread.ts', import.meta.url).href));

/** Threads start with tasks, and end after half a minute without any. */
export class ThreadPool {
  readonly #limits: ThreadLimits;
  readonly #threadsMax: number;
  readonly #perOwnerMax: number;
  readonly #waitingMax: number;
  readonly #waitingPerOwnerMax: number;
  readonly #waiting = new RoundRobin<Waiting>();
  readonly #idle: PoolThread[] = [];
  /** Running tasks by owner. */
  readonly #running = new KeyedCount();
  readonly #threads = new Set<PoolThread>();
  readonly #ended: Counter | undefined;
  #isClosed = false;

  constructor({ threadsMax, waitingMax, waitingPerOwnerMax, metrics, ...limits }: ThreadPoolOptions) {
    this.#limits = { ...DEFAULTS, ...limits };
    this.#threadsMax = threadsMax;
    this.#perOwnerMax = Math.max(1, threadsMax - 1);
    this.#waitingMax = waitingMax ?? BOUNDS.threadTasksWaiting;
    this.#waitingPerOwnerMax = waitingPerOwnerMax ?? BOUNDS.threadTasksWaitingPerOwner;
    this.#ended = metrics && this.#measure(metrics);
  }

  /**
   * Runs the task in a thread. Rejects with what it throws; with a bad request when it exceeds the
   * deadline or the memory limit; with rate_limited when the queue is full.
   */
  run<Input, Output>(task: ThreadTask<Input, Output>, input: Input, owner: string): Promise<Output> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(stopping());
      if (this.#waiting.countOf(owner) >= this.#waitingPerOwnerMax) return reject(full('of this project '));
      if (this.#waiting.size >= this.#waitingMax) return reject(full(''));
      this.#waiting.push(owner, { owner, task, input, resolve: resolve as (output: unknown) => void, reject });
      this.#assign();
    });
  }

  /** Rejects waiting tasks, and terminates all threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next.reject(stopping());
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #assign(): void {
    while (!this.#isClosed && (this.#idle.length > 0 || this.#threads.size < this.#threadsMax)) {
      const next = this.#waiting.shift((owner) => this.#running.of(owner) < this.#perOwnerMax);
      if (next === undefined) return;
      void this.#runNext(next);
    }
  }

  async #runNext({ owner, task, input, resolve, reject }: Waiting): Promise<void> {
    const thread = this.#idle.pop() ?? this.#start();
    this.#running.add(owner, 1);
    try {
      const request = { module: bundledUrl(task.module), name: task.name, input };
      resolve(await thread.run(request, task.tooCostly, task.buffersOfInput?.(input as never)));
      this.#ended?.inc({ task: task.name, end: 'done' });
    } catch (error) {
      const end = error instanceof PublicError ? (thread.isEnded ? 'stopped' : 'refused') : 'failed';
      this.#ended?.inc({ task: task.name, end });
      reject(error);
    }
    this.#running.add(owner, -1);
    if (!thread.isEnded) this.#idle.push(thread);
    this.#assign();
  }

  #start(): PoolThread {
    const thread = new PoolThread(ENTRY, this.#limits, () => {
      this.#threads.delete(thread);
      if (this.#idle.includes(thread)) this.#idle.splice(this.#idle.indexOf(thread), 1);
    });
    this.#threads.add(thread);
    return thread;
  }

  #measure(registers: Registry): Counter {
    const waiting = this.#waiting;
    new Gauge({
      name: 'thread_tasks_waiting',
      help: 'Tasks that wait for a thread of the pool',
      registers: [registers],
      collect() {
        this.set(waiting.size);
      },
    });
    return new Counter({
      name: 'thread_tasks_total',
      help: 'Tasks that a thread has run, by name and by how they ended: done, refused, stopped (deadline or memory), failed',
      labelNames: ['task', 'end'],
      registers: [registers],
    });
  }
}

const full = (whose: string) =>
  new PublicError('rate_limited', `too many large requests ${whose}are waiting; try again in a minute`);

const stopping = () => new PublicError('unavailable', 'the service is being restarted; try again');
