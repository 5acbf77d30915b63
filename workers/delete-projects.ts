// Every five seconds: the data of projects that were deleted. Which those are stands in PostgreSQL, so that none can be
// lost, and none is begun before the deletion is certain.
import { Worker } from 'bullmq';
import { createIdentifyQueue } from '../src/identity/queue.js';
import { createIngestQueue } from '../src/ingest/queue.js';
import { deleteProjectData } from '../src/privacy/delete-project.js';
import { createIdHash } from '../src/privacy/id-hash.js';
import { listProjectsToDelete, markDataDeleted } from '../src/privacy/project-store.js';
import { createErasureQueue, PROJECT_DELETION_QUEUE, scheduleErasure } from '../src/privacy/queue.js';
import { inTurn } from '../src/privacy/turn.js';
import { ForgottenPeople } from '../src/privacy/watermarks.js';
import type { RunningJob, WorkerDeps } from './runtime.js';

const EVERY_MS = 5_000;

export async function startProjectDeletion(deps: WorkerDeps): Promise<RunningJob> {
  const { config, redis, postgres, log } = deps;
  const stopping = new AbortController();
  const ingestQueue = createIngestQueue(redis);
  const identifyQueue = createIdentifyQueue(redis);
  const hashId = createIdHash(config.SECRET_KEY_BASE);
  const forgotten = new ForgottenPeople(redis, hashId);
  const queue = createErasureQueue(redis, PROJECT_DELETION_QUEUE);
  await scheduleErasure(queue, EVERY_MS);

  async function deleteProjects(): Promise<void> {
    // What is deleted on a cluster has other names: the projects wait until this knows them.
    if (config.CLICKHOUSE_CLUSTER !== undefined) return;
    for (const project of await listProjectsToDelete(postgres)) {
      const deletion = { ...deps, ingestQueue, identifyQueue, hashId, forgotten, signal: stopping.signal };
      if (await deleteProjectData(deletion, project, Date.now())) await markDataDeleted(postgres, project, hashId);
    }
  }

  const worker = new Worker(
    PROJECT_DELETION_QUEUE,
    () => inTurn(postgres, { of: 'projects', signal: stopping.signal }, deleteProjects),
    { connection: redis.duplicate() },
  );
  worker.on('failed', (_job, err) => {
    if (!stopping.signal.aborted) log.error({ err }, 'the deletion of projects failed; the next run goes on');
  });
  worker.on('error', (err) => log.warn({ err }, 'the deletion of projects lost touch with redis'));
  return {
    async close() {
      stopping.abort();
      await worker.close();
      await ingestQueue.close();
      await identifyQueue.close();
      await queue.close();
    },
  };
}
