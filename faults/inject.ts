// Injects the scheduled faults into the processes and the disk of a running stack.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, ProcessName } from './schedule.js';

/**
 * Mounts a small file system for the data directory, so that it can be filled; undefined where
 * mounting is not permitted.
 */
export function tryMountSmallDisk(directory: string, megabytes: number): { unmount(): void } | undefined {
  mkdirSync(directory, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory], {
    stdio: 'ignore',
  });
  if (status !== 0) return undefined;
  return { unmount: () => void spawnSync('umount', ['-l', directory], { stdio: 'ignore' }) };
}

export interface Injector {
  /** Resolves when the fault is over, with whether it hit anything. The stack repairs itself. */
  inject(fault: Fault): Promise<boolean>;
}

/** Whether a process got the signal. */
export function trySignal(pid: number | undefined, name: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(pid, name);
  } catch {
    // The process ended just now by itself, or by the previous fault.
    return false;
  }
}

type FindPid = (process: ProcessName) => number | undefined;

/** Injects the faults, which may overlap. Resolves with those that hit something. */
export async function injectAll(
  faults: readonly Fault[],
  options: Parameters<typeof createInjector>[0] & { forMs: number; say: (text: string) => void },
): Promise<Fault[]> {
  const injector = createInjector(options);
  const startedAt = Date.now();
  const injected: Fault[] = [];
  const running: Promise<void>[] = [];
  for (const fault of faults) {
    await delay(Math.max(0, startedAt + fault.atMs - Date.now()));
    const process_ = 'process' in fault ? fault.process : '';
    options.say(`${(fault.atMs / 1000).toFixed(1).padStart(6)} s  ${fault.kind} ${process_}`);
    running.push(injector.inject(fault).then((isHit) => void (isHit && injected.push(fault))));
  }
  await delay(Math.max(0, startedAt + options.forMs - Date.now()));
  await Promise.all(running);
  return injected;
}

function createInjector(options: {
  dataDirectory: string;
  /** Pid of a process; undefined while it restarts. */
  findPid: FindPid;
  /** Resolves with true while an insert runs, or with false on timeout. */
  untilInsertRuns: () => Promise<boolean>;
}): Injector {
  const signal = (process_: ProcessName, name: NodeJS.Signals): boolean => trySignal(options.findPid(process_), name);
  return {
    async inject(fault) {
      switch (fault.kind) {
        case 'kill':
          return signal(fault.process, 'SIGKILL');
        case 'restart':
          return signal(fault.process, 'SIGTERM');
        case 'end_during_insert':
          return (await options.untilInsertRuns()) && signal(fault.process, fault.signal);
        case 'pause': {
          const isPaused = signal(fault.process, 'SIGSTOP');
          await delay(fault.forMs);
          signal(fault.process, 'SIGCONT');
          return isPaused;
        }
        case 'full_disk':
          await fillDisk(options.dataDirectory, fault.forMs);
          return true;
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
      // The disk is full. Space that others free meanwhile is filled too.
      await delay(100);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}
