// The table of `npm run shards -- list`: of each shard its projects, their events of seven days,
// rows, bytes and health. A shard that does not answer has a line that says so.
import { markdownTable } from 'markdown-table';
import { rowsOf } from '../platform/clickhouse/client.js';
import { inOneLine } from '../platform/clickhouse/failures.js';
import type { Shard } from '../platform/clickhouse/shards.js';
import { Shards } from '../platform/clickhouse/shards.js';
import { findSilentHosts, SilentHostsError } from '../platform/clickhouse/silent-hosts.js';
import type { ShardsDeps } from './add-shard.js';
import { listRegistered } from './store.js';

const ANSWER_TIMEOUT_MS = 10_000;

const HEAD = ['shard', 'hosts', 'new projects', 'projects', 'events in 7 days', 'rows', 'GiB', 'health'];

export async function describeShards({ config, postgres }: Pick<ShardsDeps, 'config' | 'postgres'>): Promise<string> {
  const shards = new Shards(config, { postgres, requestTimeoutMs: ANSWER_TIMEOUT_MS });
  try {
    const [opened, registered, loads] = await Promise.all([
      shards.read(),
      listRegistered(postgres),
      countLoads(postgres),
    ]);
    const rows = await Promise.all(
      opened.map(async (shard) => {
        const accepts = registered.find(({ id }) => id === shard.id)?.accepts_new === true;
        const hosts = shard.hosts.map(({ name }) => name).join(' ');
        const { projects, events } = loads.get(shard.id) ?? { projects: '0', events: '0' };
        return [String(shard.id), hosts, accepts ? 'yes' : 'no', projects, events, ...(await measure(shard))];
      }),
    );
    return [markdownTable([HEAD, ...rows]), ...(await listMoves(postgres))].join('\n');
  } finally {
    await shards.close();
  }
}

async function measure(shard: Shard): Promise<string[]> {
  try {
    const [row] = await rowsOf<{ rows: string; size: string }>(
      shard.clickhouse,
      `SELECT toString(sum(rows)) AS rows, toString(round(sum(bytes_on_disk) / pow(1024, 3), 2)) AS size
       FROM system.parts WHERE active AND database = currentDatabase()`,
    );
    const silent = shard.hosts.length > 1 ? await findSilentHosts([shard]) : [];
    const health = silent.length === 0 ? 'ok' : new SilentHostsError(silent).message;
    return [row?.rows ?? '0', row?.size ?? '0', health];
  } catch (error) {
    return ['?', '?', inOneLine(error)];
  }
}

interface Load {
  readonly projects: string;
  readonly events: string;
}

/** Of the projects that live on each shard, with the events that were accepted for them. */
async function countLoads(postgres: ShardsDeps['postgres']): Promise<ReadonlyMap<number, Load>> {
  const { rows } = await postgres.raw<{ rows: ({ shard: number } & Load)[] }>(
    `SELECT coalesce(placed.shard, 1) AS shard, count(DISTINCT projects.id) AS projects,
       coalesce(sum(usage.events_ingested), 0)::text AS events
     FROM projects
     LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
     LEFT JOIN usage_days AS usage
       ON usage.project_id = projects.id AND usage.day > (now() AT TIME ZONE 'UTC')::date - 7
     WHERE projects.deleted_at IS NULL GROUP BY 1`,
  );
  return new Map(rows.map(({ shard, ...load }) => [shard, load]));
}

async function listMoves(postgres: ShardsDeps['postgres']): Promise<string[]> {
  const moving: string[] = await postgres('project_placements').where({ state: 'moving' }).pluck('project_id');
  return moving.map((id) => `the project ${id} is being moved; its events wait in Redis`);
}
