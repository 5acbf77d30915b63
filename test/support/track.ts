// Helpers of ingestion tests: send events like a client, and read the stored ones.
import { createOrganization, createProject, type NewProject } from '../../src/accounts/store.js';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import type { TestDatabases } from './stack.js';

export async function createTestProject(
  databases: TestDatabases,
  fields: { ipPolicy?: string } = {},
): Promise<NewProject> {
  const postgres = createPostgres(databases.config);
  try {
    const organization = await createOrganization(postgres, { name: 'Test' });
    return await createProject(postgres, {
      organizationId: organization.id,
      name: 'Test',
      secretKeyBase: databases.config.SECRET_KEY_BASE,
      ...fields,
    });
  } finally {
    await postgres.destroy();
  }
}

export interface Answer {
  readonly status: number;
  readonly body: { accepted?: number; dropped?: number; error?: string };
  readonly headers: Headers;
}

export async function track(
  url: string,
  key: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key !== undefined && { 'X-API-Key': key }), ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
}

export interface EventStore {
  readonly client: ClickHouseClient;
  count(projectId: string, condition?: string): Promise<number>;
  rows<T>(projectId: string, columns: string): Promise<T[]>;
}

/** Reads the events table as queries do: its counts are those a customer would see. */
export function openEventStore(databases: TestDatabases): EventStore {
  const client = createClickHouse(databases.config);
  const rows = async <T>(projectId: string, columns: string, condition = '1'): Promise<T[]> => {
    const query = `SELECT ${columns} FROM events WHERE project_id = {projectId:UUID} AND ${condition}`;
    const result = await client.query({ query, query_params: { projectId }, format: 'JSONEachRow' });
    return result.json<T>();
  };
  return {
    client,
    rows,
    count: async (projectId, condition) => {
      const [row] = await rows<{ n: string }>(projectId, 'count() AS n', condition);
      return Number(row?.n);
    },
  };
}
