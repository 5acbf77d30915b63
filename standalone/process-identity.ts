// Identifies a process by pid and start time, because pids are reused.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** Undefined when no such process runs. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export const ownIdentity = (): ProcessIdentity => findProcess(process.pid) ?? { pid: process.pid, startedAt: '' };

export const isRunning = (identity: ProcessIdentity): boolean =>
  findProcess(identity.pid)?.startedAt === identity.startedAt;

function startOnLinux(pid: number): string | undefined {
  try {
    // Field 22 of stat is the start time, in clock ticks since boot. Field 2 is a name in
    // parentheses that may contain spaces.
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (state === 'Z') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[18]}`;
  } catch {
    return undefined;
  }
}

const startByPs = (pid: number): string | undefined =>
  spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
