// What the tools answer without an engine: parts of long lists, refusals of a save, failures of the
// stores, and agents that have disconnected.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import { syncTask } from '../../../src/dashboards/sync-task.js';
import type { ThreadTask } from '../../../src/platform/threads/thread-task.js';
import { AnswerNotWanted } from '../../../src/query-api/engine-failures.js';
import { type Call, describeCard } from '../../../src/query-api/mcp/call.js';
import { saveDashboard, saveInput, showDashboards } from '../../../src/query-api/mcp/dashboard-tools.js';
import { schemaInput, showSchema } from '../../../src/query-api/mcp/schema-tool.js';
import { createAgentServer, type ServerDeps } from '../../../src/query-api/mcp/server.js';

const PROJECT = '00000000-0000-4000-8000-000000000001';
const PERSON = '00000000-0000-4000-8000-000000000002';
const DASHBOARD = '00000000-0000-4000-8000-000000000003';
const scopes = new Set(['query', 'dashboards']);
const credential = { projectId: PROJECT, personId: PERSON, role: 'admin', timezone: 'UTC', scopes };
const CALL = { credential, requestId: 'r', signal: new AbortController().signal } as unknown as Call;
const NOTHING_DEFINED = { read: async () => ({ definitions: [] }) };
const NOTHING_SENT = { read: async () => toCatalog([], true) };

/** Tools use of the others what a test gives. */
const depsWith = (deps: object): ServerDeps =>
  ({
    definitions: NOTHING_DEFINED,
    catalogs: NOTHING_SENT,
    featuresOff: [],
    publicUrl: new URL('https://x.example'),
    ...deps,
  }) as unknown as ServerDeps;

/** A client of knex whose queries find these rows; one for an id alone finds none. */
function storeOf(...rows: readonly object[]): unknown {
  const ends: Readonly<Record<string, unknown>> = {
    first: async (...columns: readonly string[]) => (columns.join() === 'id' ? undefined : rows[0]),
    count: async () => [{ count: 0 }],
    select: async () => rows,
    returning: async () => rows,
    // Without a function: a transaction that the caller ends.
    transaction: (run?: (transaction: unknown) => unknown) => (run === undefined ? store : run(store)),
  };
  const store: unknown = new Proxy(() => store, {
    get: (_, name) => (name === 'then' ? undefined : (ends[String(name)] ?? store)),
  });
  return store;
}

describe('schema', () => {
  const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const catalog = {
    isComplete: true,
    events: new Map([...numbered('page_event_', 80), '[Shop] Paid'].map((name) => [name, 1] as const)),
    properties: new Map(numbered('event_properties.page', 120).map((name) => [name, ['string']] as const)),
    values: new Map(),
    many: new Set(),
  };
  const definition = { kind: 'event', query: '*' };
  const definitions = { read: async () => ({ definitions: [{ ...definition, name: 'page_seen' }] }) };
  const search = (input: object) =>
    showSchema(
      depsWith({ catalogs: { read: async () => catalog }, definitions }),
      CALL,
      schemaInput.parse({ search: 'page', ...input }),
    );

  test('a search counts what it leaves out, and goes on from an offset', async () => {
    const first = await search({});
    expect(first).toContain('Events: rows 1–50 of 80, next offset 50\n');
    expect(first).toContain('Properties: rows 1–50 of 120, next offset 50\n');
    expect(first).toMatch(/Definitions, .*: rows 1–1 of 1\n/);
    expect(first).not.toContain('page_event_50');
    const second = await search({ offset: 50 });
    expect(second).toContain('Events: rows 51–80 of 80\n');
    expect(second).toContain('| page_event_79 ');
    expect(second).toContain('Properties: rows 51–100 of 120, next offset 100\n');
    expect(second).toMatch(/Definitions, .*: no rows at offset 50 of 1$/m);
  });

  test('says how the escapes of a table are read, when it has any', async () => {
    const escaped = await search({ search: 'shop' });
    expect(escaped).toContain('| \\[Shop\\] Paid |');
    expect(escaped).toMatch(/^In a table, a backslash before a sign is an escape/m);
    expect(await search({})).not.toContain('backslash');
  });

  test('a search for fields of every event counts them', async () => {
    expect(await search({ search: '_p', limit: 1 })).toMatch(/Fields: rows 1–1 of \d+, next offset 1\n_p\w+$/m);
  });
});

test.each([
  [{ shown: 20, total: 437 }, 'rows 1–20 of 437; run its query with query for the others'],
  [{ shown: 3, total: 3 }, 'rows 1–3 of 3'],
])('a card with the rows %j names no offset, which it has not', (cut, text) => {
  expect(describeCard(cut)).toBe(text);
});

const YAML = `version: 1
title: Visits
sections:
  - title: S
    cards:
      - { id: all, title: All, kind: metric, viz: number, query: visit | count }
`;
const ALERTS = "alerts: [{ id: out, query: visit | count, when: value > 0, every: 1m, to: ['mailto:x@y.example'] }]\n";

async function rowOf(source_yaml: string, visibility: string) {
  const context = { key: 'visits', projectId: PROJECT, timezone: 'UTC', nowMs: 0, definitions: [] };
  const body = Buffer.from(JSON.stringify({ source_yaml }));
  const { config, checksum } = await syncTask.run({ body, context } as unknown as Parameters<typeof syncTask.run>[0]);
  const same = { id: DASHBOARD, key: 'visits', title: 'Visits', version: 2, owner_id: PERSON, synced_at: null };
  return { ...same, visibility, checksum, config, source_yaml, position: null, updated_at: new Date(0) };
}

describe('save_dashboard', () => {
  const save = (row: object, input: object) => {
    const threads = { run: async <I, O>(task: ThreadTask<I, O>, of: I) => task.run(of) };
    const deps = { postgres: storeOf(row), threads, settings: { DASHBOARDS_PER_PERSON_MAX: 9 }, now: () => 0 };
    return saveDashboard(depsWith(deps), CALL, saveInput.parse({ key: 'visits', dry_run: true, ...input }));
  };

  test('tells of a change of the visibility, with the same content and with another one', async () => {
    const row = await rowOf(YAML, 'project');
    const personal = { source_yaml: YAML, visibility: 'personal' };
    const told = 'its visibility would change from project to personal\n';
    expect(await save(row, personal)).toContain(`would leave visits at version 2: the content is the same; ${told}`);
    const other = { ...personal, source_yaml: YAML.replace('Visits', 'Visitors') };
    expect(await save(row, other)).toContain(`would change visits, now version 2; ${told}`);
    expect(await save(row, { source_yaml: YAML })).not.toContain('visibility');
  });

  test.each([
    ['alerts', ALERTS],
    ['reports', "reports: [{ id: weekly, at: 'monday 08:00', to: ['mailto:x@y.example'] }]\n"],
  ])('refuses to publish or withdraw a dashboard with %s', async (_what, part) => {
    const source_yaml = YAML + part;
    for (const [before, visibility] of [
      ['project', 'personal'],
      ['personal', 'project'],
    ] as const) {
      const saved = save(await rowOf(source_yaml, before), { source_yaml, visibility });
      await expect(saved).rejects.toMatchObject({ kind: 'forbidden', message: expect.stringContaining('visibility') });
    }
    expect(await save(await rowOf(source_yaml, 'project'), { source_yaml })).toContain('the content is the same');
  });
});

test('a long list of dashboards is cut at a row, and goes on from there', async () => {
  const row = await rowOf(YAML, 'project');
  const rows = Array.from({ length: 400 }, (_, index) => ({ ...row, key: `k${index}`, title: 'long '.repeat(20) }));
  const list = (offset: number) =>
    showDashboards(depsWith({ postgres: storeOf(...rows) }), CALL, { run: false, offset });
  const first = await list(0);
  expect(first.length).toBeLessThanOrEqual(24_000);
  const [, next] = /^400 dashboards\n.*\nrows 1–\d+ of 400, next offset (\d+)\n/.exec(first) ?? [];
  expect(first.endsWith('\n```')).toBe(true);
  const second = await list(Number(next));
  expect(second).toContain(`rows ${Number(next) + 1}–`);
  expect(second).toContain(`| k${next} `);
});

describe('a failure', () => {
  async function connect(failure: Error) {
    const log = { error: vi.fn(), warn: vi.fn(), debug: vi.fn() };
    const countCall = vi.fn();
    const read = () => Promise.reject(failure);
    const deps = depsWith({ catalogs: { read }, log, countCall });
    const { fetch } = createMcpHandler(() => createAgentServer(deps, CALL));
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('http://test/mcp'), {
      fetch: async (url, init) => fetch(new Request(url, init)),
    });
    await client.connect(transport);
    return { client, log, countCall };
  }

  test('of a store is not shown in the answer of a resource', async () => {
    const { client, log } = await connect(new Error('select "secret" from "t" - connect 10.1.2.3:5432'));
    const read = client.readResource({ uri: 'analytics://schema' }).catch((error: Error) => error.message);
    expect(await read).toContain('{"error":"internal error"}');
    expect(await read).not.toMatch(/secret|10\.1\.2\.3/);
    expect(log.error).toHaveBeenCalledOnce();
    await client.close();
  });

  test('of a tool is logged and counted', async () => {
    const { client, log, countCall } = await connect(new Error('broken'));
    expect(await client.callTool({ name: 'schema', arguments: {} })).toMatchObject({ isError: true });
    expect(log.error).toHaveBeenCalledOnce();
    expect(countCall.mock.calls).toEqual([['schema', 'error']]);
    await client.close();
  });

  test('because the agent has disconnected is counted as cancelled, and not logged', async () => {
    const { client, log, countCall } = await connect(new AnswerNotWanted());
    await client.callTool({ name: 'schema', arguments: {} });
    expect([log.error.mock.calls, log.warn.mock.calls]).toEqual([[], []]);
    expect(countCall.mock.calls).toEqual([['schema', 'cancelled']]);
    await client.close();
  });
});
