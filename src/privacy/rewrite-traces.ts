// Rewrites the files of every host that has or has ever had data of some projects. A host that does
// not answer is named, and only the projects that were there stay unfinished.
import { askClickHouse } from '../platform/clickhouse/client.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { logProgress } from '../platform/progress.js';
import { rewriteClickHouse, type Yield } from './rewrite-files.js';

interface TracesDeps {
  readonly shards: Pick<Shards, 'tracesOf'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves with the projects of which no file has a row that was deleted before the call. */
export async function rewriteTraces(
  { shards, log, signal }: TracesDeps,
  projects: ReadonlySet<ProjectId>,
  options: { letOthersPass?: Yield } = {},
): Promise<ReadonlySet<ProjectId>> {
  const traces = new Map<ProjectId, readonly number[]>();
  const hosts = new Map<string, { shard: number; rewrite: () => Promise<void> }>();
  for (const projectId of projects) {
    const shardsOfProject = await shards.tracesOf(projectId);
    traces.set(
      projectId,
      shardsOfProject.map(({ id }) => id),
    );
    for (const { id, hosts: own } of shardsOfProject) {
      for (const { name, clickhouse } of own) {
        const progress = logProgress(log.child({ host: name }));
        const rewrite = async () => {
          // One that is paused would be waited for.
          await askClickHouse(clickhouse);
          await rewriteClickHouse(clickhouse, { signal, progress, ...options });
        };
        hosts.set(name, { shard: id, rewrite });
      }
    }
  }
  const failed = new Set<number>();
  await Promise.all(
    [...hosts].map(([host, { shard, rewrite }]) =>
      rewrite().catch((err: unknown) => {
        if (signal.aborted) throw err;
        failed.add(shard);
        log.error({ err, host, shard }, 'the files of a host could not be rewritten; the next run tries again');
      }),
    ),
  );
  return new Set([...projects].filter((id) => !traces.get(id)?.some((shard) => failed.has(shard))));
}
