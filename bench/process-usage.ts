// CPU and memory of processes from /proc (Linux only). A process includes its descendants that are
// not listed themselves, because databases fork.
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks are 10 ms on every Linux that Node runs on. */
const MS_PER_TICK = 10;

export interface NamedProcess {
  readonly name: string;
  readonly pid: number;
}

export interface MemoryUse {
  readonly rssBytes: number;
  /** Proportional set size: shared pages count in part, so the sum over processes is exact. */
  readonly pssBytes: number;
  /**
   * Of the PSS, what no file backs. Pages of programs and libraries count less while other stacks
   * run on the machine: libchdb.so 73 MB of 191 MB beside a few.
   */
  readonly anonymousBytes: number;
}

/** User and system time by name in milliseconds, ended children included. */
export const readCpuMs = (processes: readonly NamedProcess[]): Map<string, number> =>
  sumByName(processes, (pid) => (tryReadStat(pid)?.ticks ?? 0) * MS_PER_TICK);

export function readMemory(processes: readonly NamedProcess[]): Map<string, MemoryUse> {
  const rss = sumByName(processes, (pid) => readRollup(pid, 'Rss'));
  const pss = sumByName(processes, (pid) => readRollup(pid, 'Pss'));
  const anonymous = sumByName(processes, (pid) => readRollup(pid, 'Pss_Anon'));
  return new Map(
    [...rss].map(([name, rssBytes]) => {
      return [name, { rssBytes, pssBytes: pss.get(name) ?? 0, anonymousBytes: anonymous.get(name) ?? 0 }];
    }),
  );
}

function sumByName(processes: readonly NamedProcess[], read: (pid: number) => number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [pid, name] of ownersOf(processes)) sums.set(name, (sums.get(name) ?? 0) + read(pid));
  return sums;
}

/** Every counted process and the name it is counted under. */
function ownersOf(processes: readonly NamedProcess[]): Map<number, string> {
  const childrenOf = readChildren();
  const owners = new Map(processes.map(({ name, pid }) => [pid, name]));
  for (const { name, pid } of processes) {
    const family = [pid];
    for (const member of family) {
      const unlisted = (childrenOf.get(member) ?? []).filter((child) => !owners.has(child));
      for (const child of unlisted) owners.set(child, name);
      family.push(...unlisted);
    }
  }
  return owners;
}

function tryReadStat(pid: number): { parent: number; ticks: number } | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  // The second field is the name in parentheses, which may contain spaces and parentheses.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const [parent, ...times] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  return { parent: parent ?? 0, ticks: times.reduce((sum, ticks) => sum + ticks, 0) };
}

/** Children by parent process id. */
function readChildren(): Map<number, number[]> {
  const childrenOf = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? tryReadStat(Number(entry))?.parent : undefined;
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(entry)]);
  }
  return childrenOf;
}

function readRollup(pid: number, name: 'Rss' | 'Pss' | 'Pss_Anon'): number {
  const text = tryRead(`/proc/${pid}/smaps_rollup`) ?? '';
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}:`));
  return Number(line?.match(/\d+/)?.[0] ?? 0) * 1024;
}

/** Undefined for a process that has ended. */
function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
