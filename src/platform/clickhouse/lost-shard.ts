// Recognizes the server of a shard that has lost its data. The command that adds a shard creates
// its tables before it registers it; with new ones, queries would answer 0 instead of failing.
import type { Postgres } from '../postgres/client.js';
import { createClickHouse } from './client.js';
import { FIRST_SHARD } from './shards.js';

/**
 * What is wrong, and what to do. Undefined when a host has tables, none answers, or no project
 * lives there.
 */
export async function findLoss(
  postgres: Postgres,
  { id, urls }: { readonly id: number; readonly urls: readonly string[] },
  database: string,
): Promise<string | undefined> {
  // The first one is registered before it has tables.
  if (id === FIRST_SHARD) return undefined;
  const asked = await Promise.allSettled(urls.map((url) => hasEvents(url, database)));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  if (answers.length === 0 || answers.includes(true)) return undefined;
  const [{ projects }] = (await postgres.raw(PROJECTS, [id])).rows;
  if (projects === 0) return undefined;
  return (
    `it has no tables, but ${projects} ${projects === 1 ? 'project lives' : 'projects live'} there: restore its data ` +
    `(ops/runbooks/backup.md), or begin anew by "npm run migrate -- --lost ${id}"`
  );
}

const PROJECTS = `
  SELECT count(*)::int AS projects FROM projects JOIN project_placements AS placed ON placed.project_id = projects.id
  WHERE placed.shard = ? AND projects.deleted_at IS NULL`;

async function hasEvents(url: string, database: string): Promise<boolean> {
  // The database may not exist, so this connection selects another one.
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'system' });
  try {
    const result = await clickhouse.query({
      query: "SELECT 1 FROM tables WHERE database = {database:String} AND name = 'events'",
      query_params: { database },
      format: 'JSONEachRow',
    });
    return (await result.json()).length > 0;
  } finally {
    await clickhouse.close();
  }
}
