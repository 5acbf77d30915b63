// The number of a shard on a command line.
import { UsageError } from '../usage-error.js';

/** Throws UsageError for other texts. */
export function requireShardNumber(text = ''): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`"${text}" is not the number of a shard`);
  return Number(text);
}
