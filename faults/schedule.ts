// Schedule of the faults: chosen from a seed before the run begins.
import type { Random } from './random.js';

export const PROCESSES = ['web', 'query', 'worker', 'second worker', 'redis', 'postgres', 'clickhouse'] as const;
type Shard = `shard ${number}`;
export type ProcessName = (typeof PROCESSES)[number] | Shard;

export type Fault =
  /** SIGKILL; the supervisor restarts the process. */
  | { readonly kind: 'kill'; readonly process: ProcessName; readonly atMs: number }
  /** SIGTERM, as a deploy sends. */
  | { readonly kind: 'restart'; readonly process: ProcessName; readonly atMs: number }
  /** Either signal, while an insert runs. */
  | {
      readonly kind: 'end_during_insert';
      readonly process: 'worker' | 'clickhouse' | Shard;
      readonly signal: 'SIGKILL' | 'SIGTERM';
      readonly atMs: number;
    }
  /** SIGSTOP, then SIGCONT: the process is alive and does not respond. */
  | { readonly kind: 'pause'; readonly process: ProcessName; readonly atMs: number; readonly forMs: number }
  /** No space is left where all stores keep their files. */
  | { readonly kind: 'full_disk'; readonly atMs: number; readonly forMs: number };

type ProcessFault = Extract<Fault, { process: ProcessName }>;

const CALM_BEFORE_MS = 2000;
const GAP_MS = { min: 500, max: 2500 };
const PAUSE_MS = { min: 500, max: 6000 };
const FULL_DISK_MS = { min: 2000, max: 5000 };

/** Ascending in time. A long run covers every kind of fault and every process. */
export function planFaults(random: Random, options: { durationMs: number; canFillDisk: boolean }): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = CALM_BEFORE_MS; atMs < options.durationMs; atMs += random.between(GAP_MS.min, GAP_MS.max)) {
    const process = random.pick(PROCESSES);
    const dice = random.next();
    if (dice < 0.4) faults.push({ kind: 'kill', process, atMs });
    else if (dice < 0.5) faults.push({ kind: 'restart', process, atMs });
    else if (dice < 0.65) {
      const [during, signal] = [
        random.pick(['worker', 'clickhouse'] as const),
        random.pick(['SIGKILL', 'SIGTERM'] as const),
      ];
      faults.push({ kind: 'end_during_insert', process: during, signal, atMs });
    } else if (dice < 0.92 || !options.canFillDisk) {
      faults.push({ kind: 'pause', process, atMs, forMs: random.between(PAUSE_MS.min, PAUSE_MS.max) });
    } else faults.push({ kind: 'full_disk', atMs, forMs: random.between(FULL_DISK_MS.min, FULL_DISK_MS.max) });
  }
  return faults;
}

const WORKERS = ['worker', 'second worker'] as const;
const WORKER_GAP_MS = { min: 2500, max: 4000 };

/** Kills and pauses of the two workers alone. */
export function planWorkerFaults(random: Random, durationMs: number): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.between(WORKER_GAP_MS.min, WORKER_GAP_MS.max)) {
    const process = random.pick(WORKERS);
    if (random.next() < 0.5) faults.push({ kind: 'kill', process, atMs });
    else faults.push({ kind: 'pause', process, atMs, forMs: random.between(PAUSE_MS.min, PAUSE_MS.max) });
  }
  return faults;
}

const SHARD_GAP_MS = { min: 1000, max: 3500 };

/**
 * One shard is killed over and over and sometimes paused, at least by every second fault, and so
 * are the workers meanwhile.
 */
export function planShardFaults(random: Random, options: { durationMs: number; victim: Shard }): ProcessFault[] {
  const { durationMs, victim } = options;
  const faults: ProcessFault[] = [];
  for (let atMs = CALM_BEFORE_MS; atMs < durationMs; atMs += random.between(SHARD_GAP_MS.min, SHARD_GAP_MS.max)) {
    const isOfVictim = faults.at(-1)?.process !== victim;
    const dice = random.next() * (isOfVictim ? 0.65 : 1);
    const forMs = random.between(PAUSE_MS.min, PAUSE_MS.max);
    if (dice < 0.3) faults.push({ kind: 'kill', process: victim, atMs });
    else if (dice < 0.5) faults.push({ kind: 'end_during_insert', process: victim, signal: 'SIGKILL', atMs });
    else if (dice < 0.65) faults.push({ kind: 'pause', process: victim, atMs, forMs });
    else if (dice < 0.85) faults.push({ kind: 'kill', process: random.pick(WORKERS), atMs });
    else faults.push({ kind: 'pause', process: random.pick(WORKERS), atMs, forMs });
  }
  return faults;
}
