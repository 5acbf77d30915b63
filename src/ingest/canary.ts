// Canary event: the service sends itself one event a minute, so that operators see the ingest lag,
// and see that ingestion has stopped, before users miss data. Its state is kept in Redis, shared by
// all processes.
import type { Registry } from 'prom-client';
import { createCollectedGauge } from '../platform/collected-gauge.js';
import { newInsertId, type ProjectId, toProjectId } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import type { Envelope } from './envelope.js';

/** No organization has a project with this id, so no query returns these events. */
export const CANARY_PROJECT: ProjectId = toProjectId('00000000-0000-7000-8000-00000000ca1a');
export const CANARY_EVERY_MS = 60_000;

const KEY = 'ingest:canary';

export interface Canary {
  readonly insertId: string;
  readonly sentAt: number;
}

export function toCanaryEnvelope(canary: Canary): Envelope {
  const body = JSON.stringify({ event_type: 'canary', insert_id: canary.insertId });
  const header = { v: 1, p: CANARY_PROJECT, t: canary.sentAt, ip: '', ua: '', geo: {}, o: 'server', n: 1 } as const;
  return { header, body: Buffer.from(body) };
}

export async function recordSent(redis: Redis, sentAt: number): Promise<Canary> {
  await redis.multi().hset(KEY, { sent_at: sentAt }).hsetnx(KEY, 'missing_since', sentAt).exec();
  return { insertId: newInsertId(), sentAt };
}

export async function recordStored(redis: Redis, canary: Canary, storedAt: number): Promise<void> {
  const stored = { stored_at: storedAt, lag_ms: storedAt - canary.sentAt };
  await redis.multi().hset(KEY, stored).hdel(KEY, 'missing_since').exec();
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

export function createLagGauge(registry: Registry, redis: Redis): void {
  const help = 'Time from the acceptance of an event until queries see it, by a canary event every minute';
  createCollectedGauge(registry, { name: 'ingest_lag_seconds', help }, async () => {
    const value = await readLagSeconds(redis);
    return value === undefined ? [] : [{ value }];
  });
}

/** Undefined before the first canary. */
export async function readLagSeconds(redis: Redis): Promise<number | undefined> {
  const known = await redis.hgetall(KEY);
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
