// Adds O_APPEND to Redis's open append-only file. Redis 7 and 8 open the file of a rewrite without
// it. When the disk is full, Redis truncates half-written commands with ftruncate, but keeps its
// offset: the next write leaves a hole of zeros (append-only-file.ts), and the next truncation
// removes complete commands. The supervisor sets the flag through pidfd_getfd(2), which shares the
// open file.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Ffi from 'ffi-rs';

// System calls with the same number on all architectures.
const SYS_PIDFD_OPEN = 434;
const SYS_PIDFD_GETFD = 438;
const F_SETFL = 4;
const O_APPEND = 0o2000;
// The only flags of an open file that F_SETFL changes.
const CHANGEABLE_FLAGS = 0o66000;

/** Whether a line is Redis's message about a new file without O_APPEND. */
export const isNewFileLine = (line: string): boolean => line.includes('Creating AOF incr file');

/**
 * Adds O_APPEND to the append-only files that a Redis process has open for writing. Returns the
 * changed files. Throws where the system does not allow it: Linux before 5.6, other systems,
 * containers without CAP_SYS_PTRACE.
 */
export function setAppendMode(pid: number): string[] {
  const descriptors = readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    const path = unlessClosed(() => readlinkSync(`/proc/${pid}/fd/${name}`));
    if (path?.endsWith('.incr.aof') !== true) return [];
    const details = unlessClosed(() => readFileSync(`/proc/${pid}/fdinfo/${name}`, 'latin1'));
    if (details === undefined) return [];
    const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(details)?.[1] ?? '', 8);
    return (flags & O_APPEND) === 0 ? [{ descriptor: Number(name), path, flags }] : [];
  });
  if (descriptors.length === 0) return [];
  const process = call('syscall', SYS_PIDFD_OPEN, pid, 0);
  try {
    for (const { descriptor, flags } of descriptors) {
      const shared = call('syscall', SYS_PIDFD_GETFD, process, descriptor, 0);
      try {
        call('fcntl', shared, F_SETFL, (flags & CHANGEABLE_FLAGS) | O_APPEND);
      } finally {
        call('close', shared);
      }
    }
  } finally {
    call('close', process);
  }
  return descriptors.map(({ path }) => path);
}

/** Undefined when the file was closed just now: Redis closes the old file in a thread. */
function unlessClosed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

let ffi: typeof Ffi | undefined;

function loadLibrary(): typeof Ffi {
  const loaded = createRequire(import.meta.url)('ffi-rs') as typeof Ffi;
  loaded.open({ library: 'libc', path: '' });
  return loaded;
}

/** A function of the C library that takes and returns integers. */
function call(name: string, ...args: readonly number[]): number {
  ffi ??= loadLibrary();
  const { I64 } = ffi.DataType;
  const result = ffi.load({
    library: 'libc',
    funcName: name,
    retType: I64,
    paramsType: args.map(() => I64),
    paramsValue: [...args],
  });
  if (Number(result) < 0) throw new Error(`${name}(${args.join(', ')}) is not allowed here`);
  return Number(result);
}
