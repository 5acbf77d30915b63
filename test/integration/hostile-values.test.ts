// Stored values that attack the reader of an answer: a spreadsheet, a language model, a Markdown
// renderer. Sent to /track with a public key and read from /query, as event types, values, column
// names and in the query.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { eventually } from '../support/eventually.js';
import { CSV_PAYLOADS, formulasIn, MARKDOWN_PAYLOADS, readCsv, readMarkdown } from '../support/hostile-values.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

// NUL is replaced when an event is accepted.
const PAYLOADS = [...new Set([...MARKDOWN_PAYLOADS, ...CSV_PAYLOADS])].filter((payload) => !/^\0|^$/.test(payload));

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env);
  const events = PAYLOADS.map((payload) => ({
    event_type: payload,
    user_id: payload,
    event_properties: { value: payload, [payload]: payload },
  }));
  expect((await track(processes.url, project.publicKey, { events })).body).toEqual({ accepted: events.length });
  await eventually(async () => {
    expect(readCsv(await ask('* | count', 'csv'))).toEqual([['count'], [String(events.length)]]);
  });
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

async function ask(q: string, format: 'llm' | 'csv'): Promise<string> {
  const response = await fetch(`${processes.url}/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
    body: JSON.stringify({ q, format, limit: 1000 }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${q}: ${text}`);
  return text;
}

const QUERIES = [
  '* | count by event_type',
  '* | count by event_properties.value, user_id',
  '* | list',
  'inspect *',
  'fields',
  'paths from "a | b | c" | by event_properties.value',
];

describe('hostile stored values', () => {
  test.each(QUERIES)('stay text in cells of llm: %s', async (q) => {
    const read = readMarkdown(await ask(q, 'llm'));
    expect(read).toMatchObject({ markup: [], isAllVisible: true });
    expect(read.blocks).toEqual(['heading_open', 'table_open', 'paragraph_open']);
    expect(read.cells.length).toBeGreaterThan(1);
    expect(new Set(read.cells.map((row) => row.length)).size).toBe(1);
  });

  test.each(QUERIES)('are no formulas in csv: %s', async (q) => {
    const text = await ask(q, 'csv');
    expect(formulasIn(text)).toEqual([]);
    expect(new Set(readCsv(text).map((row) => row.length)).size).toBe(1);
  });
});

describe('hostile value in the query and a column name', () => {
  /** Escapes of JSON that the query language does not have. */
  const CODES: Readonly<Record<string, string>> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\r': '\\u000d' };
  const literal = (text: string): string =>
    JSON.stringify(text).replaceAll(/\\[bfr]/g, (sequence) => CODES[sequence] ?? sequence);

  test.each(PAYLOADS)('%j stays text', async (payload) => {
    const q = `* | where event_type = ${literal(payload)} | count by event_properties.${literal(payload)}`;
    const read = readMarkdown(await ask(q, 'llm'));
    expect(read).toMatchObject({ markup: [], isAllVisible: true });
    expect(read.blocks).toEqual(['heading_open', 'table_open', 'paragraph_open']);
    expect(read.cells.map((row) => row.length)).toEqual([2, 2]);
    const csv = await ask(q, 'csv');
    expect(formulasIn(csv)).toEqual([]);
    expect(readCsv(csv).map((row) => row.length)).toEqual([2, 2]);
  });
});
