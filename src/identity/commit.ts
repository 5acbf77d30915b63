// Commits one accepted identify call: it joins a group commit, which puts it into the queue.
import type { Admission } from '../platform/flow/admission.js';
import type { GroupCommit } from '../platform/flow/group-commit.js';
import type { ProjectId } from '../platform/ids.js';
import { MICROSECONDS_PER_MS } from './profile-history.js';
import type { Identification } from './queue.js';
import type { IdentifyCall } from './schema.js';

export interface CommitDeps {
  readonly admission: Admission;
  readonly groupCommit: GroupCommit<Identification>;
}

export interface AcceptedCall {
  readonly projectId: ProjectId;
  readonly call: IdentifyCall;
  /** Size of the received call. */
  readonly bytes: number;
  /** Id of the request. */
  readonly request: string;
  /** Only of an imported call: the time of its record, milliseconds. */
  readonly timeMs?: number;
  /** Size of its request, when that has more calls. */
  readonly requestBytes?: number;
}

/** Resolves once Redis holds the call. Rejects with rate_limited or unavailable. */
export async function commitCall(
  { projectId, call, bytes, request, timeMs, requestBytes = bytes }: AcceptedCall,
  { admission, groupCommit }: CommitDeps,
): Promise<void> {
  const identification: Identification = {
    project: projectId,
    user: call.userId,
    ...(call.deviceId !== undefined && { device: call.deviceId }),
    ops: call.ops,
    ...(timeMs !== undefined && { at: timeMs * MICROSECONDS_PER_MS }),
    request,
  };
  await groupCommit.add(identification, {
    weight: 1,
    bytes,
    key: admission.isBulk(projectId, requestBytes) ? projectId : '',
  });
}
