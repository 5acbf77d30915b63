// Breaks what the schedule says, on the processes and the disk of a stack that `npm start` runs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, ProcessName } from './schedule.js';

/** A file system of its own for the data directory, so that it can be filled; undefined where mounting is not allowed. */
export function tryMountSmallDisk(directory: string, megabytes: number): { unmount(): void } | undefined {
  mkdirSync(directory, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory], {
    stdio: 'ignore',
  });
  if (status !== 0) return undefined;
  return { unmount: () => void spawnSync('umount', ['-l', directory], { stdio: 'ignore' }) };
}

export interface Injector {
  /** Resolves when the fault is over; what it leaves behind is the system's own to repair. */
  inject(fault: Fault): Promise<void>;
}

export function createInjector(options: {
  dataDirectory: string;
  /** Of a process as it runs now; undefined while it is being started again. */
  findPid: (process: ProcessName) => number | undefined;
}): Injector {
  const signal = (process_: ProcessName, name: NodeJS.Signals): void => {
    const pid = options.findPid(process_);
    if (pid === undefined) return;
    try {
      process.kill(pid, name);
    } catch {
      // It ended a moment ago by itself, or by the fault before this one.
    }
  };
  return {
    async inject(fault) {
      switch (fault.kind) {
        case 'kill':
          return signal(fault.process, 'SIGKILL');
        case 'restart':
          return signal(fault.process, 'SIGTERM');
        case 'pause':
          signal(fault.process, 'SIGSTOP');
          await delay(fault.forMs);
          return signal(fault.process, 'SIGCONT');
        case 'full_disk':
          return fillDisk(options.dataDirectory, fault.forMs);
      }
    },
  };
}

const CHUNK = Buffer.alloc(8 * 1024 * 1024, 1);

async function fillDisk(directory: string, forMs: number): Promise<void> {
  const folder = join(directory, 'filler');
  mkdirSync(folder, { recursive: true });
  const end = Date.now() + forMs;
  for (let count = 0; Date.now() < end; ) {
    try {
      writeFileSync(join(folder, String(count)), CHUNK);
      count += 1;
    } catch {
      // Full. What others free in the meantime is taken as well.
      await delay(100);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}
