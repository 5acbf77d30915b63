// The table of `npm run shards -- list`: of each shard its projects, rows, bytes, events of a day
// and health. A shard that does not answer has a line that says so.
import { markdownTable } from 'markdown-table';
import type { Shard } from '../platform/clickhouse/shards.js';
import { Shards } from '../platform/clickhouse/shards.js';
import { findSilentHosts, SilentHostsError } from '../platform/clickhouse/silent-hosts.js';
import { messageOf } from '../platform/errors.js';
import type { ShardsDeps } from './add-shard.js';
import { listRegistered } from './store.js';

const ANSWER_TIMEOUT_MS = 10_000;

const HEAD = ['shard', 'hosts', 'new projects', 'projects', 'rows', 'GiB', 'events in 24 h', 'health'];

export async function describeShards({ config, postgres }: Pick<ShardsDeps, 'config' | 'postgres'>): Promise<string> {
  const shards = new Shards(config, { postgres, requestTimeoutMs: ANSWER_TIMEOUT_MS });
  try {
    const [opened, registered, projects] = await Promise.all([
      shards.read(),
      listRegistered(postgres),
      countProjects(postgres),
    ]);
    const rows = await Promise.all(
      opened.map(async (shard) => {
        const accepts = registered.find(({ id }) => id === shard.id)?.accepts_new === true;
        const hosts = shard.hosts.map(({ name }) => name).join(' ');
        const shown = [String(shard.id), hosts, accepts ? 'yes' : 'no', projects.get(shard.id) ?? '0'];
        return [...shown, ...(await measure(shard))];
      }),
    );
    return [markdownTable([HEAD, ...rows]), ...(await listMoves(postgres))].join('\n');
  } finally {
    await shards.close();
  }
}

async function measure(shard: Shard): Promise<string[]> {
  try {
    const result = await shard.clickhouse.query({
      query: `SELECT toString(sum(rows)) AS rows, toString(round(sum(bytes_on_disk) / pow(1024, 3), 2)) AS size,
          (SELECT toString(count()) FROM events WHERE received_at > now() - 86400) AS today
        FROM system.parts WHERE active AND database = currentDatabase()`,
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ rows: string; size: string; today: string }>();
    const silent = shard.hosts.length > 1 ? await findSilentHosts([shard]) : [];
    const health = silent.length === 0 ? 'ok' : new SilentHostsError(silent).message;
    return [row?.rows ?? '0', row?.size ?? '0', row?.today ?? '0', health];
  } catch (error) {
    return ['?', '?', '?', messageOf(error)];
  }
}

async function countProjects(postgres: ShardsDeps['postgres']): Promise<ReadonlyMap<number, string>> {
  const { rows } = await postgres.raw<{ rows: { shard: number; projects: string }[] }>(
    `SELECT coalesce(placed.shard, 1) AS shard, count(*) AS projects
     FROM projects LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
     WHERE projects.deleted_at IS NULL GROUP BY 1`,
  );
  return new Map(rows.map(({ shard, projects }) => [shard, projects]));
}

async function listMoves(postgres: ShardsDeps['postgres']): Promise<string[]> {
  const moving: string[] = await postgres('project_placements').where({ state: 'moving' }).pluck('project_id');
  return moving.map((id) => `the project ${id} is being moved; its events wait in Redis`);
}
