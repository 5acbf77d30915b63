// First-seen times: the time an insert id without a time was first accepted, so that a retry writes
// the same row. Kept in Redis for a day, in bounded memory. Each project has a ring of hashes
// ("slices") from 8 bytes of the id's SHA-256 to 4 bytes of time, 67 to 80 bytes an entry. A full
// ring drops its oldest slice; above the limit of all projects, the project with the most entries
// drops its oldest. Lua scripts change entries and counters together, so that they never differ.
import { groupBy } from '../platform/group-by.js';
import type { Redis } from '../platform/redis/client.js';
import { sha256 } from '../platform/sha256.js';

const REMEMBERED_MS = 24 * 60 * 60_000;

export interface FirstTimesLimits {
  /** Entries of all projects together. */
  readonly totalMax: number;
  readonly perProjectMax: number;
}

/** The most memory that Redis was measured to use per entry, hash table included. */
const BYTES_PER_ENTRY_MAX = 80;

/** Redis counter: entries of all projects. */
const FIRST_TIMES_TOTAL = 'ingest:times:total';
/** Sorted set: entries by project. */
const HELD = 'ingest:times:held';

const SLICES_MAX = 5;
const SLICE_MS = 6 * 60 * 60_000;
/** Entries are held until the newest that their slice may have is no longer remembered. */
export const HELD_MS = REMEMBERED_MS + SLICE_MS;
const ID_BYTES = 8;
const IDS_PER_CALL = 1000;

/**
 * `ingest:times:<project>` is a hash from the number of a slice to when it was begun. Slices are
 * keys of their own, `ingest:times:<project>:<number>`.
 */
// In Lua, -0 is formatted as "-0", which Redis does not read as an integer: amounts are negated as
// 0 - n.
const SHARED = `
local HELD, TOTAL, PREFIX = KEYS[1], KEYS[2], 'ingest:times:'

local function slices(project)
  local numbers = redis.call('HKEYS', PREFIX .. project)
  for i = 1, #numbers do numbers[i] = tonumber(numbers[i]) end
  table.sort(numbers)
  return numbers
end

local function count(project, entries)
  redis.call('INCRBY', TOTAL, entries)
  if tonumber(redis.call('ZINCRBY', HELD, entries, project)) <= 0 then redis.call('ZREM', HELD, project) end
end

local function drop(project, number)
  local slice = PREFIX .. project .. ':' .. number
  count(project, 0 - redis.call('HLEN', slice))
  redis.call('UNLINK', slice)
  redis.call('HDEL', PREFIX .. project, number)
end
`;

/**
 * Takes for each id 8 bytes of its hash and 4 of its time. Returns for each the 4 bytes of its
 * first-seen time, or false when it is new.
 */
const SETTLE = `${SHARED}
local project, now = ARGV[1], tonumber(ARGV[2])
local rememberedMs, sliceMs, slicesMax = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local perSlice, totalMax, ids = tonumber(ARGV[6]), tonumber(ARGV[7]), 7
local numbers = slices(project)

local times, missing = {}, {}
for i = 1, #ARGV - ids do
  times[i] = false
  missing[i] = i
end
for n = #numbers, 1, -1 do
  if #missing == 0 then break end
  local wanted, left = {}, {}
  for i = 1, #missing do wanted[i] = string.sub(ARGV[ids + missing[i]], 1, 8) end
  local found = redis.call('HMGET', PREFIX .. project .. ':' .. numbers[n], unpack(wanted))
  for i = 1, #missing do
    local time = found[i]
    local age = time and (now - struct.unpack('>I4', time)) % 4294967296
    if age and (age < rememberedMs or age > 2147483648) then times[missing[i]] = time else left[#left + 1] = missing[i] end
  end
  missing = left
end
if #missing == 0 then return times end

local newest = numbers[#numbers]
local isOpen = newest and now - redis.call('HGET', PREFIX .. project, newest) < sliceMs
  and redis.call('HLEN', PREFIX .. project .. ':' .. newest) < perSlice
if not isOpen then
  newest = (newest or 0) + 1
  numbers[#numbers + 1] = newest
  redis.call('HSET', PREFIX .. project, newest, now)
end
local added = {}
for i = 1, #missing do
  added[2 * i - 1] = string.sub(ARGV[ids + missing[i]], 1, 8)
  added[2 * i] = string.sub(ARGV[ids + missing[i]], 9)
end
count(project, redis.call('HSET', PREFIX .. project .. ':' .. newest, unpack(added)))

for n = 1, #numbers - slicesMax do drop(project, numbers[n]) end
while tonumber(redis.call('GET', TOTAL)) > totalMax do
  local largest = redis.call('ZREVRANGE', HELD, 0, 0)[1]
  if not largest then break end
  drop(largest, slices(largest)[1])
end
return times
`;

const FORGET = `${SHARED}
local project = ARGV[1]
for _, number in ipairs(slices(project)) do
  local slice = PREFIX .. project .. ':' .. number
  count(project, 0 - redis.call('HDEL', slice, unpack(ARGV, 2)))
end
`;

/** Drops the slices of every project that were begun before a given time. */
const SWEEP = `${SHARED}
for _, project in ipairs(redis.call('ZRANGE', HELD, 0, -1)) do
  for _, number in ipairs(slices(project)) do
    if tonumber(redis.call('HGET', PREFIX .. project, number)) < tonumber(ARGV[1]) then drop(project, number) end
  end
end
`;

/**
 * 64 bits: a collision within a project is negligible, and its effect is that one id gets the time
 * of the other.
 */
const hashOf = (insertId: string): Buffer => sha256(insertId).subarray(0, ID_BYTES);

/** The low 32 bits of the milliseconds, which cover 49 days. */
const pack = (timeMs: number): Buffer => {
  const packed = Buffer.alloc(4);
  packed.writeUInt32BE(timeMs % 2 ** 32);
  return packed;
};
const unpack = (packed: Buffer, now: number): number => {
  const ageMs = (((now - packed.readUInt32BE()) % 2 ** 32) + 2 ** 32) % 2 ** 32;
  // The time may be in the future, because the clock of another process may be ahead.
  return now - (ageMs > 2 ** 31 ? ageMs - 2 ** 32 : ageMs);
};

interface Settled {
  readonly projectId: string;
  readonly insertIds: readonly string[];
  /** Milliseconds, one for each id; `now` by default. */
  readonly times?: readonly number[];
  readonly now: number;
}

/**
 * Returns for each id the time of its first acceptance; its own of `times` when it is new. A time
 * of more than a day ago is not remembered; it is stored as a day ago, because an older one could
 * look like one of the future.
 */
export async function settleFirstSeenTimes(
  redis: Redis,
  request: Settled,
  limits: FirstTimesLimits,
): Promise<number[]> {
  const { times = [], now } = request;
  const found = await settle(redis, request, limits);
  return found.map((first, index) => (first === null ? (times[index] ?? now) : unpack(first, now)));
}

/** Those of the distinct ids that were not taken or settled within a day. */
export async function takeNewIds(
  redis: Redis,
  { projectId, ids, now }: { readonly projectId: string; readonly ids: readonly string[]; readonly now: number },
  limits: FirstTimesLimits,
): Promise<string[]> {
  const found = await settle(redis, { projectId, insertIds: ids, now }, limits);
  return ids.filter((_, index) => found[index] === null);
}

/**
 * The packed first-seen time of each id; null when it is new. A script settles each id, so two
 * concurrent requests agree.
 */
async function settle(
  redis: Redis,
  { projectId, insertIds, times, now }: Settled,
  limits: FirstTimesLimits,
): Promise<(Buffer | null)[]> {
  const fixed = [
    ...[projectId, now, REMEMBERED_MS, SLICE_MS, SLICES_MAX],
    ...[Math.ceil(limits.perProjectMax / SLICES_MAX), limits.totalMax],
  ];
  const oldest = now - REMEMBERED_MS;
  const found: (Buffer | null)[] = [];
  for (const ids of inParts(insertIds)) {
    const packed = ids.map((id, index) =>
      Buffer.concat([hashOf(id), pack(Math.max(times?.[found.length + index] ?? now, oldest))]),
    );
    const keys = [HELD, FIRST_TIMES_TOTAL];
    const settled = await redis.callBuffer('EVAL', SETTLE, keys.length, ...keys, ...fixed, ...packed);
    found.push(...(settled as (Buffer | null)[]));
  }
  return found;
}

/** Deletes the first-seen times of these events. */
export async function deleteFirstSeenTimes(
  redis: Redis,
  events: readonly { readonly projectId: string; readonly insertId: string }[],
): Promise<void> {
  for (const [projectId, some] of groupBy(events, (event) => event.projectId)) {
    for (const ids of inParts(some.map(({ insertId }) => insertId))) {
      await redis.eval(FORGET, 2, HELD, FIRST_TIMES_TOTAL, projectId, ...ids.map(hashOf));
    }
  }
}

/** Drops entries older than a day. Projects that keep sending drop them through their ring. */
export async function sweepFirstTimes(redis: Redis, now: number): Promise<void> {
  await redis.eval(SWEEP, 2, HELD, FIRST_TIMES_TOTAL, now - HELD_MS);
}

/**
 * Redis memory for first-seen times, in bytes. It has its own limit, so it does not count as
 * backlog.
 */
export async function firstTimesBytes(redis: Redis): Promise<number> {
  return Number((await redis.get(FIRST_TIMES_TOTAL)) ?? 0) * BYTES_PER_ENTRY_MAX;
}

const inParts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / IDS_PER_CALL) }, (_, at) =>
    ids.slice(at * IDS_PER_CALL, (at + 1) * IDS_PER_CALL),
  );
