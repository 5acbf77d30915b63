// CPU and memory of processes as the kernel counts them (/proc, so Linux only). A process stands for its whole tree:
// engines fork.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel's clock ticks are hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;

export interface MemoryUse {
  readonly rssBytes: number;
  /** Proportional: pages shared with other processes count in part, so the sum over processes is real. */
  readonly pssBytes: number;
}

/** User and system time in milliseconds, of the process, its living descendants, and children it has waited for. */
export function cpuMsOf(pid: number): number {
  return treeOf(pid).reduce((sum, member) => sum + readCpuMs(member), 0);
}

export function memoryOf(pid: number): MemoryUse {
  const uses = treeOf(pid).map(readMemory);
  return {
    rssBytes: uses.reduce((sum, use) => sum + use.rssBytes, 0),
    pssBytes: uses.reduce((sum, use) => sum + use.pssBytes, 0),
  };
}

export function treeOf(root: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? tryReadStat(Number(entry))?.parent : undefined;
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(entry)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []));
  return tree;
}

function readCpuMs(pid: number): number {
  return (tryReadStat(pid)?.ticks ?? 0) * MS_PER_TICK;
}

function tryReadStat(pid: number): { parent: number; ticks: number } | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  // The second field is the name in parentheses, and may itself hold spaces and parentheses.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const [parent, ...times] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  return { parent: parent ?? 0, ticks: times.reduce((sum, ticks) => sum + ticks, 0) };
}

function readMemory(pid: number): MemoryUse {
  const text = tryRead(`/proc/${pid}/smaps_rollup`) ?? '';
  const bytesOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { rssBytes: bytesOf('Rss'), pssBytes: bytesOf('Pss') };
}

/** Undefined for a process that has ended. */
function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
