// Commits one accepted identify call: it joins a group commit, which puts it into the queue.
import type { Admission } from '../platform/flow/admission.js';
import type { GroupCommit } from '../platform/flow/group-commit.js';
import type { ProjectId } from '../platform/ids.js';
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
}

/** Resolves once Redis holds the call. Rejects with rate_limited or unavailable. */
export async function commitCall(
  { projectId, call, bytes, request }: AcceptedCall,
  { admission, groupCommit }: CommitDeps,
): Promise<void> {
  const identification: Identification = {
    project: projectId,
    user: call.userId,
    ...(call.deviceId !== undefined && { device: call.deviceId }),
    ops: call.ops,
    request,
  };
  await groupCommit.add(identification, { weight: 1, bytes, key: admission.isBulk(projectId, bytes) ? projectId : '' });
}
