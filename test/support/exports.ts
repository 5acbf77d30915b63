// Fixture of the tests of exports: the real processes, and a project whose people are exported.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createExportQueue, type ExportQueue } from '../../src/privacy/export-queue.js';
import { eventually } from './eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from './stack.js';
import { createTestProject, type EventStore, openEventStore } from './track.js';

export const MEBIBYTE = 1024 * 1024;
export const EXPORTS_MAX = 3;

export let databases: TestDatabases;
export let processes: ProcessGroup;
export let store: EventStore;
export let postgres: Postgres;
export let redis: Redis;
export let queue: ExportQueue;
export let project: NewProject;

export type ExportedEvent = Record<string, unknown> & { event_type: string; time: string; insert_id: string };

/** Starts the processes, and creates a project whose exports are asked for. */
export function startExports(): void {
  beforeAll(async () => {
    databases = await createTestDatabases({
      EXPORTS_OPEN_MAX: String(4 * EXPORTS_MAX),
      TRUST_PROXY: 'loopback',
      GEOIP_HEADERS: 'country=x-country,city=x-city',
    });
    store = openEventStore(databases);
    postgres = createPostgres(databases.config);
    redis = createRedis(databases.config);
    queue = createExportQueue(redis);
    project = await createTestProject(databases, { ipPolicy: 'full' });
    processes = await startProcesses(databases.env);
  });

  afterAll(async () => {
    await processes?.stop();
    await queue?.close();
    redis?.disconnect();
    await postgres?.destroy();
    await store?.client.close();
    await databases?.close();
  });
}

export const addressOf = (userId: string): string =>
  `${processes.url}/api/gdpr/users/${encodeURIComponent(userId)}/export`;

export const ask = (userId: string, key: string | undefined = project.secretKey): Promise<Response> =>
  fetch(addressOf(userId), { headers: { ...(key !== undefined && { 'X-API-Key': key }), connection: 'close' } });

export async function exportOf(userId: string, key = project.secretKey): Promise<ExportedEvent[]> {
  const response = await ask(userId, key);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ExportedEvent);
}

/** Reads only when told to. */
export function openSlowly(userId: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(addressOf(userId), { headers: { 'X-API-Key': project.secretKey }, agent: false });
    asked.on('response', (response: IncomingMessage) => resolve(response.pause()));
    asked.on('error', reject);
    asked.end();
  });
}

/** Reads so many bytes, and stops. */
export async function take(response: IncomingMessage, bytes: number): Promise<void> {
  for (let taken = 0; taken < bytes; ) {
    const chunk: Buffer | null = response.read();
    if (chunk === null) await once(response, 'readable');
    else taken += chunk.length;
  }
}

export async function readLines(response: IncomingMessage): Promise<number> {
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return lines;
}

export async function untilStored(projectId: string, events: number): Promise<void> {
  await eventually(async () => expect(await store.count(projectId)).toBe(events), 60_000);
}

export interface Filling {
  readonly projectId?: string;
  /** SQL for the time of each event, after the first of October. */
  readonly milliseconds?: string;
  /** Size of the property of each event. */
  readonly bytes?: number;
}

/** Straight into the table: more events than a test has time to send. */
export async function fill(
  userId: string,
  events: number,
  { projectId = project.id, milliseconds = 'number * 1000', bytes = 2000 }: Filling = {},
): Promise<void> {
  await store.client.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ingest_origin, ep_str)
      SELECT {project:UUID}, 'filled', addMilliseconds(toDateTime64('2026-10-01', 3, 'UTC'), ${milliseconds}),
        toString(number), {user:String}, 'server', map('padding', repeat('x', {bytes:UInt32})) FROM numbers({events:UInt32})`,
    query_params: { project: projectId, user: userId, events, bytes },
  });
}

/** As an identify call does, once its copy has arrived. */
export const mapDevice = (projectId: string, deviceId: string, userId: string): Promise<unknown> =>
  store.client.command({
    query: `INSERT INTO device_map (project_id, device_id, user_id, updated_at)
      SELECT {project:UUID}, {device:String}, {user:String}, now64(6)`,
    query_params: { project: projectId, device: deviceId, user: userId },
  });

export const auditOf = (projectId: string): Promise<Record<string, unknown>[]> =>
  postgres('audit_entries').where({ project_id: projectId }).orderBy('id');

export const lastOutcome = async (): Promise<unknown> => (await auditOf(project.id)).at(-1)?.outcome;
