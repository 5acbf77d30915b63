// The last of people who were deleted: what waits in the queues, and what the files still hold. Afterwards no byte of them is
// left but in backups and in the databases' own logs (docs/privacy.md).
import { setTimeout as delay } from 'node:timers/promises';
import { decodeEnvelopes, type Envelope } from '../ingest/envelope.js';
import { payloadKeyPattern, payloadWrittenAt, replacePayload } from '../ingest/payloads.js';
import { nameFailure } from '../platform/errors.js';
import type { Logger } from '../platform/log.js';
import type { Redis } from '../platform/redis/client.js';
import { type ErasureDeps, groupByProject, type KnownErasure, removeRows } from './erase-people.js';
import { rewriteClickHouse, rewritePostgres, rewriteRedis } from './rewrite-files.js';
import { dropIds, type Erasure, isAnyRequested } from './store.js';
import { type ErasureTombstones, readTombstoneVersion } from './tombstones.js';

/**
 * Resolves with those that are done. A claim that cannot be read, and a project whose rows cannot be removed, hold up those
 * they concern and nobody else.
 */
export async function purgePeople(
  deps: ErasureDeps & { forgotten: ErasureTombstones; log: Logger },
  erasures: readonly Erasure[],
): Promise<readonly Erasure[]> {
  const removed = await removeAgain(deps, erasures);
  const unread = await purgeClaims(deps.redis, deps.forgotten);
  for (const { key, err } of unread)
    deps.log.error({ err, key }, 'events in redis cannot be read, so none can be purged');
  const purged = removed.filter((erasure) => !unread.some((claim) => mayHold(claim, erasure)));
  if (purged.length === 0) return [];
  await rewriteClickHouse(deps.clickhouse, { signal: deps.signal, letOthersPass: letErasuresPass(deps) });
  await dropIds(deps.postgres, purged);
  await rewritePostgres(deps.config, deps.signal);
  await rewriteRedis(deps.redis, deps.signal);
  return purged;
}

/** Once more, as long as it is known who they were: a worker that hung all the while may have stored late. */
async function removeAgain(deps: ErasureDeps & { log: Logger }, erasures: readonly Erasure[]): Promise<Erasure[]> {
  const removed: Erasure[] = [];
  for (const [projectId, group] of groupByProject(erasures)) {
    try {
      await removeRows(deps, group.filter(isKnown));
      removed.push(...group);
    } catch (error) {
      if (deps.signal.aborted) throw error;
      deps.log.error(
        { err: nameFailure(error), project: projectId },
        'erased people of a project cannot be purged yet',
      );
    }
  }
  return removed;
}

const PASSING_POLL_MS = 100;
const PASSING_MAX_MS = 60_000;

/** Requests that wait for their receipt come first; so many of them that they never end hold up a purge for a minute. */
function letErasuresPass({ postgres, signal }: ErasureDeps): () => Promise<void> {
  let leftMs = PASSING_MAX_MS;
  return async () => {
    for (; leftMs > 0 && (await isAnyRequested(postgres)); leftMs -= PASSING_POLL_MS) {
      await delay(PASSING_POLL_MS, undefined, { signal });
    }
  };
}

const isKnown = (erasure: Erasure): erasure is KnownErasure => erasure.deviceIds !== undefined;

const SCAN_COUNT = 500;
// A request is stamped a little before its claim: while its group commits, or Redis is slow.
const STAMP_TO_CLAIM_MS = 60_000;

/** Some of what a claim holds, and why it cannot be told whose it is. */
export interface UnreadClaim {
  readonly key: string;
  /** Undefined when not even that can be read. */
  readonly projectId: string | undefined;
  readonly err: unknown;
}

export const mayHold = (
  { key, projectId }: UnreadClaim,
  people: { readonly projectId: string; readonly erasedThroughMs: number },
): boolean =>
  (projectId === undefined || projectId === people.projectId) &&
  (payloadWrittenAt(key) ?? 0) <= people.erasedThroughMs + STAMP_TO_CLAIM_MS;

/** Events that wait, or are parked for a person to look at, leave Redis as well. Resolves with what could not be read. */
export async function purgeClaims(redis: Redis, forgotten: ErasureTombstones): Promise<UnreadClaim[]> {
  const version = await readTombstoneVersion(redis);
  if (version === null) return [];
  const latestMs = (await forgotten.latestErasedThroughMs(version)) + STAMP_TO_CLAIM_MS;
  const unread: UnreadClaim[] = [];
  for await (const keys of redis.scanStream({ match: payloadKeyPattern, count: SCAN_COUNT })) {
    for (const key of keys as string[]) {
      if ((payloadWrittenAt(key) ?? 0) <= latestMs)
        unread.push(...(await purgeClaim(redis, key, { forgotten, version })));
    }
  }
  return unread;
}

async function purgeClaim(
  redis: Redis,
  key: string,
  { forgotten, version }: { forgotten: ErasureTombstones; version: string },
): Promise<UnreadClaim[]> {
  const bytes = await redis.getBuffer(key);
  const accepted = bytes === null ? [] : tryDecodeFrames(bytes);
  if (accepted instanceof Error) return [{ key, projectId: undefined, err: accepted }];
  const kept: Envelope[] = [];
  const unread: UnreadClaim[] = [];
  for (const envelope of accepted) {
    try {
      kept.push(...(await forgotten.removeEvents([envelope], version)).envelopes);
    } catch (err) {
      kept.push(envelope);
      unread.push({ key, projectId: envelope.header.p, err });
    }
  }
  const isSame = kept.length === accepted.length && kept.every((envelope, position) => envelope === accepted[position]);
  // Only if it is still there: its job may have ended in the meantime.
  if (!isSame) await replacePayload(redis, key, { from: accepted, to: kept });
  return unread;
}

function tryDecodeFrames(bytes: Buffer): Envelope[] | Error {
  try {
    return decodeEnvelopes(bytes);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
