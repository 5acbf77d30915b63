// Purge of erased people: removes their events from waiting jobs and dead letters, and rewrites the
// data files. Afterwards their data is left only in backups and in the logs of the databases
// (docs/privacy.md).
import { setTimeout as delay } from 'node:timers/promises';
import { decodeEnvelopes, type Envelope } from '../ingest/envelope.js';
import { payloadKeyPattern, payloadWrittenAt, replacePayload } from '../ingest/payloads.js';
import { SilentHostsError } from '../platform/clickhouse/silent-hosts.js';
import { nameFailure } from '../platform/errors.js';
import type { Logger } from '../platform/log.js';
import type { Redis } from '../platform/redis/client.js';
import { type ErasureDeps, groupByProject, type KnownErasure, removeRows } from './erase-people.js';
import { rewritePostgres, rewriteRedis, type Yield } from './rewrite-files.js';
import { rewriteTraces } from './rewrite-traces.js';
import { dropIds, type Erasure, isAnyRequested } from './store.js';
import { type ErasureTombstones, readTombstoneVersion } from './tombstones.js';

/**
 * Resolves with the purged erasures. An unreadable payload, or a project whose rows cannot be
 * deleted, blocks only the erasures it concerns.
 */
export async function purgePeople(
  deps: ErasureDeps & { forgotten: ErasureTombstones; log: Logger },
  erasures: readonly Erasure[],
): Promise<readonly Erasure[]> {
  const removed = await removeAgain(deps, erasures);
  const unread = await purgePayloads(deps.redis, deps.forgotten);
  for (const { key, err } of unread)
    deps.log.error({ err, key }, 'events in redis cannot be read, so none can be purged');
  const readable = removed.filter((erasure) => !unread.some((payload) => mayHold(payload, erasure)));
  const rewritten = await rewriteTraces(deps, new Set(readable.map(({ projectId }) => projectId)), {
    letOthersPass: letErasuresPass(deps),
  });
  const purged = readable.filter(({ projectId }) => rewritten.has(projectId));
  if (purged.length === 0) return [];
  await dropIds(deps.postgres, purged);
  await rewritePostgres(deps.config, deps.signal);
  await rewriteRedis(deps.redis, deps.signal);
  return purged;
}

/**
 * Deletes the rows again while the ids are still known, because a worker that hung may have stored
 * rows late.
 */
async function removeAgain(deps: ErasureDeps & { log: Logger }, erasures: readonly Erasure[]): Promise<Erasure[]> {
  const removed: Erasure[] = [];
  for (const [projectId, group] of groupByProject(erasures)) {
    try {
      await removeRows(deps, group.filter(isKnown));
      removed.push(...group);
    } catch (error) {
      if (deps.signal.aborted) throw error;
      deps.log.error(
        { err: error instanceof SilentHostsError ? error.message : nameFailure(error), project: projectId },
        'erased people of a project cannot be purged yet',
      );
    }
  }
  return removed;
}

const PASSING_POLL_MS = 100;
const PASSING_MAX_MS = 60_000;

/** Lets requests that wait for their receipt go first, but delays the purge by at most a minute. */
export function letErasuresPass({ postgres, signal }: Pick<ErasureDeps, 'postgres' | 'signal'>): Yield {
  let leftMs = PASSING_MAX_MS;
  return async () => {
    for (; leftMs > 0 && (await isAnyRequested(postgres)); leftMs -= PASSING_POLL_MS) {
      await delay(PASSING_POLL_MS, undefined, { signal });
    }
  };
}

const isKnown = (erasure: Erasure): erasure is KnownErasure => erasure.deviceIds !== undefined;

const SCAN_COUNT = 500;
// A request is accepted a little before its payload is written: while its group commits, or Redis
// is slow.
const ACCEPT_TO_PAYLOAD_MS = 60_000;

/** Part of a payload that cannot be read, and why. */
export interface UnreadPayload {
  readonly key: string;
  /** Undefined when not even the project can be read. */
  readonly projectId: string | undefined;
  readonly err: unknown;
}

export const mayHold = (
  { key, projectId }: UnreadPayload,
  people: { readonly projectId: string; readonly erasedThroughMs: number },
): boolean =>
  (projectId === undefined || projectId === people.projectId) &&
  (payloadWrittenAt(key) ?? 0) <= people.erasedThroughMs + ACCEPT_TO_PAYLOAD_MS;

/**
 * Removes events from the payloads of waiting jobs and dead letters. Resolves with those that
 * cannot be read.
 */
export async function purgePayloads(redis: Redis, forgotten: ErasureTombstones): Promise<UnreadPayload[]> {
  const version = await readTombstoneVersion(redis);
  if (version === null) return [];
  const latestMs = (await forgotten.latestErasedThroughMs(version)) + ACCEPT_TO_PAYLOAD_MS;
  const unread: UnreadPayload[] = [];
  for await (const keys of redis.scanStream({ match: payloadKeyPattern, count: SCAN_COUNT })) {
    for (const key of keys as string[]) {
      if ((payloadWrittenAt(key) ?? 0) <= latestMs)
        unread.push(...(await purgePayload(redis, key, { forgotten, version })));
    }
  }
  return unread;
}

async function purgePayload(
  redis: Redis,
  key: string,
  { forgotten, version }: { forgotten: ErasureTombstones; version: string },
): Promise<UnreadPayload[]> {
  const bytes = await redis.getBuffer(key);
  const accepted = bytes === null ? [] : tryDecodeEnvelopes(bytes);
  if (accepted instanceof Error) return [{ key, projectId: undefined, err: accepted }];
  const kept: Envelope[] = [];
  const unread: UnreadPayload[] = [];
  for (const envelope of accepted) {
    try {
      kept.push(...(await forgotten.removeEvents([envelope], version)).envelopes);
    } catch (err) {
      kept.push(envelope);
      unread.push({ key, projectId: envelope.header.p, err });
    }
  }
  const isSame = kept.length === accepted.length && kept.every((envelope, position) => envelope === accepted[position]);
  // The payload may be gone, because its job has ended meanwhile.
  if (!isSame) await replacePayload(redis, key, { from: accepted, to: kept });
  return unread;
}

function tryDecodeEnvelopes(bytes: Buffer): Envelope[] | Error {
  try {
    return decodeEnvelopes(bytes);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
