// Claims: the events of a job, under a Redis key of their own, and the backlog of each project, which is the sum over its claims.
// Claims are written, replaced and deleted together with these sums, so that the sums are exact whatever crashes.
import type { ChainableCommander } from 'ioredis';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { decodeEnvelopes, type Envelope, encodeEnvelope } from './envelope.js';

const PAYLOAD_PREFIX = 'ingest:claim:';
const UUID_LENGTH = 36;

/** The id of a job of `project` alone names it: others can tell whose events a job holds without reading them. */
export const newClaim = (project: string): string =>
  PAYLOAD_PREFIX + newUuidV7() + (project === '' ? '' : `-${project}`);

export const payloadKeyPattern = `${PAYLOAD_PREFIX}*`;
export const jobIdOfPayload = (key: string): string => key.slice(PAYLOAD_PREFIX.length);

/** Undefined for jobs that may hold events of any project. */
export const projectOfJob = (id: string): string | undefined =>
  id.length > UUID_LENGTH ? id.slice(UUID_LENGTH + 1) : undefined;

/** When a claim was written; undefined for a key that is none. */
export function payloadWrittenAt(key: string): number | undefined {
  const id = key.startsWith(PAYLOAD_PREFIX) ? jobIdOfPayload(key) : '';
  const milliseconds = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Hash: bytes by project. */
const BYTES = 'ingest:backlog:bytes';
/** Hash: jobs of the bulk queue by project. */
const JOBS = 'ingest:backlog:jobs';

/** What a small event costs beside its bytes is worth so many. */
const EVENT_BYTES_MIN = 512;

type Frames = readonly Envelope[];

/** Bytes by project. */
export type Shares = ReadonlyMap<string, number>;

export const weigh = (bytes: number, events: number): number => Math.max(bytes, events * EVENT_BYTES_MIN);

export function sharesOf(envelopes: Frames): Shares {
  const shares = new Map<string, number>();
  for (const { header, body } of envelopes) {
    shares.set(header.p, (shares.get(header.p) ?? 0) + weigh(body.length, header.n));
  }
  return shares;
}

/** Adds the claim to a transaction. The reply of the last command is the backlog in bytes of the last share. */
export function setClaim(transaction: ChainableCommander, claim: string, { bytes, shares }: NewClaim): void {
  transaction.set(claim, bytes);
  const project = projectOfJob(jobIdOfPayload(claim));
  if (project !== undefined) transaction.hincrby(JOBS, project, 1);
  for (const [id, share] of shares) transaction.hincrby(BYTES, id, share);
}

interface NewClaim {
  readonly bytes: Buffer;
  readonly shares: Shares;
}

const SUBTRACT = `
local function subtract(key, field, amount)
  if redis.call('HINCRBY', key, field, 0 - amount) <= 0 then redis.call('HDEL', key, field) end
end
`;

const DELETE = `${SUBTRACT}
if redis.call('UNLINK', KEYS[1]) == 0 then return 0 end
if ARGV[1] ~= '' then subtract(KEYS[3], ARGV[1], 1) end
for i = 2, #ARGV, 2 do subtract(KEYS[2], ARGV[i], ARGV[i + 1]) end
return 1
`;

/** `envelopes` are what the claim holds. Resolves with whether it was still there. */
export async function deleteClaim(redis: Redis, claim: string, shares: Shares): Promise<boolean> {
  const project = projectOfJob(jobIdOfPayload(claim)) ?? '';
  return (await redis.eval(DELETE, 3, claim, BYTES, JOBS, project, ...[...shares].flat())) === 1;
}

/** The same for a claim whose envelopes have not been read, or cannot be. */
export async function discardClaim(redis: Redis, claim: string): Promise<boolean> {
  const bytes = await redis.getBuffer(claim);
  return bytes !== null && (await deleteClaim(redis, claim, sharesOf(readable(bytes))));
}

function readable(bytes: Buffer): Envelope[] {
  try {
    return decodeEnvelopes(bytes);
  } catch {
    return [];
  }
}

const REPLACE = `${SUBTRACT}
if not redis.call('SET', KEYS[1], ARGV[1], 'XX') then return end
for i = 2, #ARGV, 2 do subtract(KEYS[2], ARGV[i], ARGV[i + 1]) end
`;

/** Does nothing when the claim is gone: its job has ended. */
export async function replaceClaim(
  redis: Redis,
  claim: string,
  { from, to }: { from: Frames; to: Frames },
): Promise<void> {
  const kept = sharesOf(to);
  const removed = [...sharesOf(from)].flatMap(([id, share]) => [id, share - (kept.get(id) ?? 0)]);
  await redis.eval(REPLACE, 2, claim, BYTES, Buffer.concat(to.map(encodeEnvelope)), ...removed);
}

export interface ProjectBacklog {
  readonly jobs: number;
  readonly bytes: number;
}

/** Of every project that has one. Jobs are those of the bulk queue. */
export async function readBacklogs(redis: Redis): Promise<Map<string, ProjectBacklog>> {
  const [bytes, jobs] = await Promise.all([redis.hgetall(BYTES), redis.hgetall(JOBS)]);
  return new Map(Object.entries(bytes).map(([id, text]) => [id, { bytes: Number(text), jobs: Number(jobs[id] ?? 0) }]));
}
