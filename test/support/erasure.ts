// Fixture of erasure tests: a stack on which a purge follows at once, tenants, and the requests of
// an operator.
import { expect } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createIngestQueue, type IngestQueue } from '../../src/ingest/queue.js';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createErasureQueue, type ErasureQueue } from '../../src/privacy/queue.js';
import { eventually } from './eventually.js';
import { createTestDatabases, type Environment, type ProcessGroup, startProcesses } from './stack.js';
import { createTestProject, type EventStore, openEventStore, track } from './track.js';

/** A project of its own, and the requests of its owner. */
export interface Tenant {
  readonly project: NewProject;
  readonly gdpr: GdprClient;
  send(...events: object[]): Promise<void>;
  identify(userId: string, deviceId?: string, userProperties?: object): Promise<void>;
  /** Resolves when that many events are stored. */
  holds(events: number, condition?: string): Promise<void>;
  ask(q: string): Promise<Record<string, unknown>[]>;
}

export interface ErasureStack {
  readonly processes: ProcessGroup;
  readonly store: EventStore;
  readonly postgres: Postgres;
  readonly databaseUrl: string;
  readonly redis: Redis;
  readonly ingestQueue: IngestQueue;
  readonly erasureQueue: ErasureQueue;
  createTenant(): Promise<Tenant>;
  close(): Promise<void>;
}

export async function startErasureStack(env: Environment = {}): Promise<ErasureStack> {
  const databases = await createTestDatabases({ PRIVACY_PURGE_DELAY_MS: '0', ...env });
  const store = openEventStore(databases);
  await hurryCleaning(store.client);
  const postgres = createPostgres(databases.config);
  const redis = createRedis(databases.config);
  const ingestQueue = createIngestQueue(redis);
  const erasureQueue = createErasureQueue(redis);
  const processes = await startProcesses(databases.env);
  return {
    ...{ processes, store, postgres, redis, ingestQueue, erasureQueue },
    databaseUrl: databases.config.DATABASE_URL,
    createTenant: async () => openTenant(processes.url, store, await createTestProject(databases)),
    close: async () => {
      await processes.stop();
      await ingestQueue.close();
      await erasureQueue.close();
      redis.disconnect();
      await postgres.destroy();
      await store.client.close();
      await databases.close();
    },
  };
}

function openTenant(url: string, store: EventStore, project: NewProject): Tenant {
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'X-API-Key': project.secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { rows: Record<string, unknown>[] };
  };
  return {
    project,
    gdpr: openGdpr(url, project),
    send: async (...events) => {
      const answer = await track(url, project.publicKey, { events });
      expect(answer.body).toEqual({ accepted: events.length });
    },
    identify: async (userId, deviceId, userProperties) => {
      await post('/identify', { user_id: userId, device_id: deviceId, user_properties: userProperties });
    },
    holds: (events, condition) =>
      eventually(async () => expect(await store.count(project.id, condition)).toBe(events), 60_000),
    ask: async (q) => (await post('/query', { q, format: 'json' })).rows,
  };
}

export interface GdprAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface GdprClient {
  request(path: string, init?: RequestInit): Promise<GdprAnswer>;
  erase(userId: string): Promise<GdprAnswer>;
  /** Resolves with the status of the request once it has reached the given one. */
  reached(status: 'deleted' | 'purged', requestId: unknown, timeoutMs?: number): Promise<Record<string, unknown>>;
}

function openGdpr(url: string, project: NewProject): GdprClient {
  const request = async (path: string, init: RequestInit = {}): Promise<GdprAnswer> => {
    const response = await fetch(`${url}/api/gdpr${path}`, { ...init, headers: { 'X-API-Key': project.secretKey } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return {
    request,
    erase: (userId) => request(`/users/${encodeURIComponent(userId)}`, { method: 'DELETE' }),
    reached: (status, requestId, timeoutMs = 60_000) =>
      eventually(async () => {
        const { body } = await request(`/requests/${String(requestId)}`);
        expect(status === 'deleted' ? ['deleted', 'purged'] : [status]).toContain(body.status);
        return body;
      }, timeoutMs),
  };
}

/**
 * Hash over all columns of every event that `except` does not match, to show that no other event
 * has changed.
 */
export async function digestOfOthers(store: EventStore, projectId: string, except: string): Promise<string> {
  const query = `SELECT count() AS rows, groupBitXor(cityHash64(*)) AS digest FROM events
    WHERE project_id = {projectId:UUID} AND NOT (${except})`;
  const result = await store.client.query({ query, query_params: { projectId }, format: 'JSONEachRow' });
  const [row] = await result.json<{ rows: string; digest: string }>();
  return `${row?.rows} ${row?.digest}`;
}

/** Replaced parts leave the disk after a second instead of a minute. */
export async function hurryCleaning(client: ClickHouseClient): Promise<void> {
  for (const table of ['events', 'device_map', 'profiles']) {
    const settings = 'old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 2';
    await client.command({ query: `ALTER TABLE ${table} MODIFY SETTING ${settings}` });
    // The cleaning thread first sleeps for half a minute; reattaching the table starts one with the
    // new settings.
    await client.command({ query: `DETACH TABLE ${table} SYNC` });
    await client.command({ query: `ATTACH TABLE ${table}` });
  }
}
