// Recognizes the server of a shard that has lost its data, or that is not the one with its data.
// The command that adds a shard creates its tables before it registers it; with new ones, queries
// would answer 0 instead of failing.
import type { Postgres } from '../postgres/client.js';
import { hasTable } from './has-table.js';
import { FIRST_SHARD } from './shards.js';

/**
 * What is wrong, and what to do. Undefined when a host has tables, none answers, or no project
 * lives there; of the first shard, which is registered before it has tables, no project whose
 * events were stored.
 */
export async function findLoss(
  postgres: Postgres,
  { id, urls }: { readonly id: number; readonly urls: readonly string[] },
  database: string,
): Promise<string | undefined> {
  const asked = await Promise.allSettled(urls.map((url) => hasTable(url, database, 'events')));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  if (answers.length === 0 || answers.includes(true)) return undefined;
  const isFirst = id === FIRST_SHARD;
  const [{ projects }] = (await postgres.raw(isFirst ? PROJECTS_WITH_EVENTS : PROJECTS, [id])).rows;
  if (projects === 0) return undefined;
  const [check, start] = isFirst
    ? [
        `check CLICKHOUSE_URL and CLICKHOUSE_DATABASE (${database}), `,
        '"npm start -- --lost 1", with servers of your own ',
      ]
    : ['', ''];
  return (
    `it has no tables, but ${projects} ${projects === 1 ? 'project lives' : 'projects live'} there: ${check}restore its data ` +
    `(ops/runbooks/backup.md), or create empty tables by ${start}"npm run migrate -- --lost ${id}"`
  );
}

const PROJECTS = `
  SELECT count(*)::int AS projects FROM projects LEFT JOIN project_placements AS placed ON placed.project_id = projects.id
  WHERE coalesce(placed.shard, ${FIRST_SHARD}) = ? AND projects.deleted_at IS NULL`;

const PROJECTS_WITH_EVENTS = `${PROJECTS}
  AND EXISTS (SELECT FROM usage_days AS days WHERE days.project_id = projects.id AND days.events_stored_max > 0)`;
