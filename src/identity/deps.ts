// Builds the dependencies of POST /identify from the configuration.
import { type IngestionParts, type IngestionSettings, toBacklogLimits, toGroupLimits } from '../ingest/deps.js';
import { toEventLimits } from '../ingest/limits.js';
import { measureBacklog } from '../ingest/queue.js';
import { createAdmission } from '../platform/flow/admission.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { GroupCommit } from '../platform/flow/group-commit.js';
import { createIdentifyMetrics } from './metrics.js';
import { createIdentifyQueue, enqueueIdentify, readBacklogs, sharesOfCalls } from './queue.js';
import type { IdentityDeps } from './routes.js';

export function createIdentityDeps(
  settings: IngestionSettings,
  { rateLimits, registry, redis, ...parts }: IngestionParts & Pick<IdentityDeps, 'rejectedEvents'>,
): IdentityDeps {
  const queue = createIdentifyQueue(redis);
  const source = {
    measure: () => measureBacklog([queue], redis),
    measureProjects: () => readBacklogs(queue, redis),
  };
  const admission = createAdmission(source, toBacklogLimits(settings, BOUNDS.identifyPromptBytes));
  return {
    ...parts,
    rateLimit: rateLimits.identify,
    admission,
    groupCommit: new GroupCommit(
      (commit) => {
        const { key, bytes } = commit;
        const job = { bytes, ...(key !== '' && { projectId: key }), shares: sharesOfCalls(commit) };
        const { bytes: backlogBytes } = admission.backlogOf(key);
        return admission.addJob(job, () => enqueueIdentify(queue, redis, { ...commit, backlogBytes }));
      },
      toGroupLimits(settings, BOUNDS.identifyCommitBytes),
    ),
    limits: toEventLimits(settings),
    metrics: createIdentifyMetrics(registry),
  };
}
