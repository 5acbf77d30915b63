// `POST /track?wait=1`: the answer waits until queries count the events, for scripts that ask a
// question next. It polls for the job, which the worker removes after ClickHouse has acknowledged
// its rows; an event per insert would be slower than the batch that the worker fills anyway.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Credential } from '../access/credentials.js';
import { PublicError } from '../platform/errors.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { PlainRequest } from '../platform/http/plain-request.js';
import type { Redis } from '../platform/redis/client.js';
import { isJobKnown } from './queue.js';

const POLL_MS = 25;

/** For the OpenAPI document; parseWait is cheaper for the requests that have no query. */
export const trackQuery = z.object({
  wait: z
    .literal('1')
    .optional()
    .meta({ description: 'answers when the events are counted; with a secret key or a token' }),
  replace: z.literal('without-host').optional().meta({
    description: 'replaces stored events of the same ids that have no hostname; with a secret key',
  }),
});

/**
 * Whether the request asks to replace events without a hostname. Throws forbidden for other keys
 * than secret ones, and bad_request for another value.
 */
export function parseReplace(req: PlainRequest, { kind }: Credential): boolean {
  if (!req.url.includes('?')) return false;
  const { replace } = req.query;
  if (replace === undefined) return false;
  if (replace !== 'without-host') throw new PublicError('bad_request', 'replace can only be without-host');
  if (kind !== 'secret') throw new PublicError('forbidden', 'replace=without-host needs a secret key');
  return true;
}

/**
 * Whether the request asks to wait. Throws forbidden for public keys, whose holders could keep many
 * requests open, and bad_request for another value than 1.
 */
export function parseWait(req: PlainRequest, { kind }: Credential): boolean {
  // Parsing a query costs every event; most requests have none.
  if (!req.url.includes('?')) return false;
  const { wait } = req.query;
  if (wait === undefined) return false;
  if (wait !== '1') throw new PublicError('bad_request', 'wait can only be 1');
  if (kind === 'public') throw new PublicError('forbidden', 'wait=1 needs a secret key or a token');
  return true;
}

interface WaitLimits {
  readonly waitsMax: number;
  readonly waitMs: number;
}

/** The answers of a process that wait. */
export class CountedWaits {
  readonly #redis: Redis;
  readonly #limits: WaitLimits;
  #waiting = 0;

  constructor(redis: Redis, limits: WaitLimits = { waitsMax: BOUNDS.trackWaits, waitMs: BOUNDS.trackWaitMs }) {
    this.#redis = redis;
    this.#limits = limits;
  }

  /**
   * Resolves with whether the events of the job are counted: false when the time is over, too many
   * answers wait already, Redis does not answer, or the client has left. The events are accepted in
   * each case.
   */
  async wait(jobId: string, hasLeft: () => boolean): Promise<boolean> {
    if (this.#waiting >= this.#limits.waitsMax) return false;
    this.#waiting += 1;
    try {
      const until = performance.now() + this.#limits.waitMs;
      while (await isJobKnown(this.#redis, jobId)) {
        if (performance.now() >= until || hasLeft()) return false;
        await pause(POLL_MS);
      }
      return true;
    } catch {
      // The events are in Redis, which has acknowledged them: an error would make clients repeat.
      return false;
    } finally {
      this.#waiting -= 1;
    }
  }
}
