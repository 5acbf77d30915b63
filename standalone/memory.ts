// How much memory the engines of `npm start` get: shares of what this process may use.
import { totalmem } from 'node:os';

const MEBIBYTE = 1024 ** 2;

/** Of the machine, or of the container or unit of systemd that this process runs in, in bytes. */
const usableMemoryBytes = (): number =>
  // 0 where there is no limit, or none is known.
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/**
 * Half of it, between 512 MiB and 4 GiB: ClickHouse rejects queries above that instead of being
 * killed.
 */
export const clickhouseMemoryBytes = (usableBytes: number = usableMemoryBytes()): number =>
  Math.floor(Math.min(Math.max(usableBytes / 2, 512 * MEBIBYTE), 4096 * MEBIBYTE));

/**
 * A quarter of it, 1 GiB at most: from there on events are refused until the worker has caught up.
 * A Redis that is killed because the memory is full would be killed again when it loads its file.
 */
export const redisHighWaterBytes = (usableBytes: number = usableMemoryBytes()): number =>
  Math.floor(Math.min(usableBytes / 4, 1024 * MEBIBYTE));
