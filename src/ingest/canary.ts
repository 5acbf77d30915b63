// Canary event: the service sends itself one event a minute, so that operators see the ingest lag,
// and see that ingestion has stopped, before users miss data. Its state is kept in Redis, shared by
// all processes.
import type { Registry } from 'prom-client';
import { FIRST_SHARD, type Shards } from '../platform/clickhouse/shards.js';
import { createCollectedGauge } from '../platform/collected-gauge.js';
import { newInsertId, type ProjectId, toProjectId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { executed } from '../platform/redis/transaction.js';
import type { Envelope } from './envelope.js';

/** Of the ids of all canary projects. */
export const CANARY_PREFIX = '00000000-0000-7000-8000-';
const CANARY_SUFFIX = 'ca1a';

/**
 * One per shard. No organization has a project with this id, so no query returns these events. That
 * of the first shard ends with zeros and `ca1a`, others have the number of their shard before it.
 */
export function canaryProjectOf(shard: number): ProjectId {
  const number = shard === FIRST_SHARD ? 0 : shard;
  return toProjectId(`${CANARY_PREFIX}${number.toString(16).padStart(8, '0')}${CANARY_SUFFIX}`);
}

/** Undefined for the id of any other project. */
export function shardOfCanary(projectId: string): number | undefined {
  if (!projectId.startsWith(CANARY_PREFIX) || !projectId.endsWith(CANARY_SUFFIX)) return undefined;
  return Number.parseInt(projectId.slice(CANARY_PREFIX.length, -CANARY_SUFFIX.length), 16) || FIRST_SHARD;
}

export const CANARY_EVERY_MS = 60_000;

/** Redis hash with the state of the canary of a shard. */
const keyOf = (shard: number): string => (shard === FIRST_SHARD ? 'ingest:canary' : `ingest:canary:${shard}`);

export interface Canary {
  readonly shard: number;
  readonly insertId: string;
  readonly sentAt: number;
}

export function toCanaryEnvelope(canary: Canary): Envelope {
  const body = JSON.stringify({ event_type: 'canary', insert_id: canary.insertId });
  const header = {
    v: 1,
    p: canaryProjectOf(canary.shard),
    t: canary.sentAt,
    ip: '',
    ua: '',
    geo: {},
    o: 'server',
    n: 1,
  } as const;
  return { header, body: Buffer.from(body) };
}

export async function recordSent(redis: Redis, shard: number, sentAt: number): Promise<Canary> {
  const key = keyOf(shard);
  await executed(redis.multi().hset(key, { sent_at: sentAt }).hsetnx(key, 'missing_since', sentAt));
  return { shard, insertId: newInsertId(), sentAt };
}

export async function recordStored(redis: Redis, canary: Canary, storedAt: number): Promise<void> {
  const stored = { stored_at: storedAt, lag_ms: storedAt - canary.sentAt };
  const key = keyOf(canary.shard);
  await executed(redis.multi().hset(key, stored).hdel(key, 'missing_since'));
}

export interface CanaryRecord {
  readonly sentAt: number;
  /** When the oldest canary that is still missing was sent. */
  readonly missingSince: number | undefined;
  /** When the last canary was stored, and its lag. */
  readonly storedAt: number | undefined;
  readonly lagMs: number;
}

/**
 * Grows while a canary is missing, and also when none is sent any more, because the workers have
 * stopped.
 */
export function lagSeconds(record: CanaryRecord, now: number): number {
  const { sentAt, missingSince, storedAt, lagMs } = record;
  const missing = missingSince === undefined ? 0 : now - missingSince;
  const silent = now - sentAt > 2 * CANARY_EVERY_MS ? now - (storedAt ?? sentAt) : 0;
  return Math.max(lagMs, missing, silent) / 1000;
}

/** The lag of the worst shard, and that of each. */
export function createLagGauge(registry: Registry, redis: Redis, shards: Pick<Shards, 'known'>): void {
  const help = 'Time from the acceptance of an event until queries see it, by a canary event every minute';
  createCollectedGauge(registry, { name: 'ingest_lag_seconds', help }, async () => {
    const value = await readLagSeconds(redis, shards);
    return value === undefined ? [] : [{ value }];
  });
  const ofShard = { name: 'shard_ingest_lag_seconds', help: `${help}, by shard`, labelNames: ['shard'] };
  createCollectedGauge(registry, ofShard, async () => {
    const lags = await Promise.all(
      shards.known.map(async ({ id }) => ({ shard: String(id), value: await readShardLag(redis, id) })),
    );
    return lags.flatMap(({ shard, value }) => (value === undefined ? [] : [{ labels: { shard }, value }]));
  });
}

/** Lag of the worst shard; undefined before the first canary. */
async function readLagSeconds(redis: Redis, shards: Pick<Shards, 'known'>): Promise<number | undefined> {
  const lags = await Promise.all(shards.known.map(({ id }) => readShardLag(redis, id)));
  const measured = lags.filter((lag) => lag !== undefined);
  return measured.length === 0 ? undefined : Math.max(...measured);
}

/** Undefined before the first canary of the shard. */
export async function readShardLag(redis: Redis, shard: number): Promise<number | undefined> {
  const known = await redis.hgetall(keyOf(shard));
  if (known.sent_at === undefined) return undefined;
  const record = {
    sentAt: Number(known.sent_at),
    missingSince: toNumber(known.missing_since),
    storedAt: toNumber(known.stored_at),
    lagMs: toNumber(known.lag_ms) ?? 0,
  };
  return lagSeconds(record, Date.now());
}

const toNumber = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
