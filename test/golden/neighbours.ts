// Other projects beside the history of dataset.ts, with the same ids, keys and devices and much
// more data. No answer of the history may change by them.
import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { EVENT_ROWS, PROFILE_ROWS, PROJECT } from './dataset.js';

type Row = Readonly<Record<string, unknown>>;

const NEIGHBOURS = 3;
const COPIES = 20;

const ofProject = (rows: readonly Row[]): Row[] => rows.filter((row) => row.project_id === PROJECT);

export async function storeNeighbours(clickhouse: ClickHouseClient): Promise<void> {
  for (let neighbour = 0; neighbour < NEIGHBOURS; neighbour += 1) {
    for (const [table, values] of Object.entries(rowsOf(randomUUID()))) {
      await clickhouse.insert({ table, values, format: 'JSONEachRow' });
    }
  }
}

function rowsOf(project_id: string): Record<'events' | 'device_map' | 'profiles', Row[]> {
  const devices = new Set(EVENT_ROWS.flatMap((row) => [row.device_id, row.user_id]));
  const updated_at = '2030-01-01 00:00:00.000000';
  return {
    events: ofProject(EVENT_ROWS).flatMap((row) => copiesOf(row, project_id)),
    device_map: [...devices].map((device_id) => ({ project_id, device_id, user_id: 'mallory', updated_at })),
    profiles: ofProject(PROFILE_ROWS).map((row) => ({
      ...row,
      project_id,
      email: 'ann@example.com',
      props_str: { plan: 'secret', secret: 'secret' },
      version: 99,
      deleted: 0,
    })),
  };
}

/** The same key once, and then others of the same ids at the same time. */
const copiesOf = (row: Row, project_id: string): Row[] =>
  Array.from({ length: COPIES }, (_, copy) => ({
    ...row,
    project_id,
    insert_id: copy === 0 ? row.insert_id : `${row.insert_id}-${copy}`,
    user_id: copy % 3 === 0 ? row.user_id : 'mallory',
    ep_str: { ...(row.ep_str as object), plan: 'secret', secret: 'secret' },
    geo_country: 'XX',
    path: '/secret',
  }));
