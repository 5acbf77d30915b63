// The last of people who were deleted: what waits in the queues, and what the files still hold. Afterwards no byte of them is
// left but in backups and in the databases' own logs (docs/privacy.md).
import { decodeFrames, encodeFrame } from '../ingest/frame.js';
import { claimedAt, claimPattern } from '../ingest/queue.js';
import type { Redis } from '../platform/redis/client.js';
import { type ErasureDeps, type KnownErasure, removeRows } from './erase-people.js';
import { rewriteClickHouse, rewritePostgres, rewriteRedis } from './rewrite-files.js';
import { dropIds, type Erasure } from './store.js';
import { type ForgottenPeople, readWatermarkVersion } from './watermarks.js';

export async function purgePeople(
  deps: ErasureDeps & { forgotten: ForgottenPeople },
  erasures: readonly Erasure[],
): Promise<void> {
  // Once more, as long as it is known who they were: a worker that hung all the while may have stored late.
  await removeRows(deps, erasures.filter(isKnown));
  await purgeClaims(deps.redis, deps.forgotten);
  await rewriteClickHouse(deps.clickhouse, deps.signal);
  await dropIds(deps.postgres, erasures);
  await rewritePostgres(deps.config, deps.signal);
  await rewriteRedis(deps.redis, deps.signal);
}

const isKnown = (erasure: Erasure): erasure is KnownErasure => erasure.deviceIds !== undefined;

const SCAN_COUNT = 500;
// A request is stamped a little before its claim: while its group commits, or Redis is slow.
const STAMP_TO_CLAIM_MS = 60_000;

/** Events that wait, or are parked for a person to look at, leave Redis as well. Resolves with how many did. */
export async function purgeClaims(redis: Redis, forgotten: ForgottenPeople): Promise<number> {
  const version = await readWatermarkVersion(redis);
  if (version === null) return 0;
  const latestMs = (await forgotten.latestCutMs(version)) + STAMP_TO_CLAIM_MS;
  let purged = 0;
  for await (const keys of redis.scanStream({ match: claimPattern, count: SCAN_COUNT })) {
    for (const key of keys as string[]) {
      if ((claimedAt(key) ?? 0) <= latestMs) purged += await purgeClaim(redis, key, { forgotten, version });
    }
  }
  return purged;
}

async function purgeClaim(
  redis: Redis,
  key: string,
  { forgotten, version }: { forgotten: ForgottenPeople; version: string },
): Promise<number> {
  const bytes = await redis.getBuffer(key);
  const accepted = bytes === null ? [] : decodeFrames(bytes);
  // What cannot be read may be anyone's: the error says so for as long as it lies there.
  const { frames, leftOut } = await forgotten.leaveOut(accepted, version);
  const isSame = frames.length === accepted.length && frames.every((frame, position) => frame === accepted[position]);
  // Only if it is still there: its job may have ended in the meantime.
  if (!isSame) await redis.set(key, Buffer.concat(frames.map(encodeFrame)), 'XX');
  return leftOut.length;
}
