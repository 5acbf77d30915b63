// Commits the identify calls of a request of another SDK. One that must not be applied twice, such
// as one that adds to a property, is applied by the first of the requests that have it.
import type { Credential } from '../../access/credentials.js';
import { type CommitDeps, commitCall } from '../../identity/commit.js';
import type { PlainRequest } from '../../platform/http/plain-request.js';
import { requestIdOf } from '../../platform/http/request-id.js';
import { deleteFirstSeenTimes, takeNewIds } from '../first-seen-times.js';
import type { StepDeps } from '../steps.js';
import type { ProfileChange } from './translate.js';

interface CallsDeps {
  readonly ingest: Pick<StepDeps, 'redis' | 'firstTimes'>;
  readonly identity: CommitDeps;
}

interface Calls {
  readonly req: Pick<PlainRequest, 'headers'>;
  readonly credential: Pick<Credential, 'projectId'>;
  /** The body of the request. */
  readonly bytes: Buffer;
  readonly calls: readonly ProfileChange[];
  readonly now: number;
}

/** Rejects when one of them could not be committed. */
export async function commitCalls(
  { ingest: { redis, firstTimes }, identity }: CallsDeps,
  { req, credential: { projectId }, bytes, calls, now }: Calls,
): Promise<void> {
  const ids = [...new Set(calls.flatMap(({ onceId }) => onceId ?? []))];
  const fresh = new Set(await takeNewIds(redis, { projectId, ids, now }, firstTimes));
  const applied = calls.filter(({ onceId }) => onceId === undefined || fresh.delete(onceId));
  const share = { projectId, bytes: Math.ceil(bytes.length / calls.length), request: requestIdOf(req) };
  await Promise.all(
    applied.map(async ({ call, onceId }) => {
      try {
        await commitCall({ ...share, call }, identity);
      } catch (error) {
        // The sender will repeat it, and with it those that are committed.
        if (onceId !== undefined) await deleteFirstSeenTimes(redis, [{ projectId, insertId: onceId }]);
        throw error;
      }
    }),
  );
}
