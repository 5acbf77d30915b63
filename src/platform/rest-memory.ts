// Memory of a process at rest. After a burst, V8 keeps its heap, and glibc keeps the pages of freed
// buffers in its arenas. Once the process has rested, it collects garbage and returns the pages by
// malloc_trim, which the optional package ffi-rs calls; without it, or another libc than glibc,
// nothing is returned.
import { createRequire } from 'node:module';
import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type * as Ffi from 'ffi-rs';

const LOOK_EVERY_MS = 15_000;
/** Threads end after half a minute without tasks (thread-pool.ts), which frees memory too. */
const LOOKS_AT_REST = 3;
/** CPU time as a share of one core. */
const BUSY_SHARE = 0.2;
const REST_SHARE = 0.05;

/** Returns memory after each burst, the start of the process included. */
export function returnMemoryAtRest(): void {
  const returnMemory = openMemoryReturn();
  if (returnMemory === undefined) return;
  const rest = new RestAfterBurst();
  let cpu = process.cpuUsage();
  const look = () => {
    const used = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    if (rest.isBegun((used.user + used.system) / 1000 / LOOK_EVERY_MS)) void returnMemory();
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Says once for each burst that the process has rested since. */
export class RestAfterBurst {
  #isBurst = true;
  #looks = 0;

  /** `share`: of a core, since the last look. */
  isBegun(share: number): boolean {
    if (share >= BUSY_SHARE) this.#isBurst = true;
    this.#looks = share < REST_SHARE ? this.#looks + 1 : 0;
    if (!this.#isBurst || this.#looks < LOOKS_AT_REST) return false;
    this.#isBurst = false;
    return true;
  }
}

/** A function that returns memory to the system; undefined where none can be returned. */
export function openMemoryReturn(): (() => Promise<void>) | undefined {
  // A process whose thread has loaded ffi-rs ends with a segmentation fault.
  if (process.platform !== 'linux' || !isMainThread) return undefined;
  try {
    const ffi = createRequire(import.meta.url)('ffi-rs') as typeof Ffi;
    ffi.open({ library: 'libc', path: 'libc.so.6' });
    const { I32 } = ffi.DataType;
    const trim = { library: 'libc', funcName: 'malloc_trim', retType: I32, paramsType: [I32], paramsValue: [0] };
    // Fails here, and not later, where the library has no such function.
    ffi.load(trim);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    return async () => {
      collect();
      // What is kept until the finalizers have run is collected by the next one.
      await immediate();
      collect();
      ffi.load(trim);
    };
  } catch {
    return undefined;
  }
}
