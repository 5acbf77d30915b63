// Queries at the limits of the language over HTTP: each is answered within ClickHouse's limits for
// HTTP; beyond a limit, or when invalid, the response is 400 with a position.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';
import { FORMS_AT_LIMITS, FULL_TEXTS } from '../unit/query/forms.js';
import { NASTY_TEXTS } from '../unit/query/nasty-texts.js';

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  project = await createTestProject(databases);
  const clickhouse = createClickHouse(databases.config);
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ep_str, ep_num)
      SELECT {project:UUID}, 's0', now64(3) - number - 1, toString(number), concat('u', toString(number)),
        map('w0', 'a', 'n', '7000000000'), map('n', 7e9)
      FROM numbers(3000)`,
    query_params: { project: project.id },
  });
  await clickhouse.close();
  processes = await startProcesses(databases.env, ['web', 'query']);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

const send = (path: string, method: string, body: object): Promise<Response> =>
  fetch(processes.url + path, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': project.secretKey },
    body: JSON.stringify(body),
  });

async function detailsOf(response: Response): Promise<unknown[]> {
  const { details } = (await response.json()) as { details?: unknown[] };
  return details ?? [];
}

const ask = (q: string): Promise<Response> => send('/query', 'POST', { q, format: 'json' });

describe('queries at the limits', () => {
  test.each(Object.entries({ ...FORMS_AT_LIMITS, ...FULL_TEXTS }))('%s is answered', async (_, q) => {
    const response = await ask(q);
    const { error } = (await response.json()) as { error?: string };
    expect([response.status, error]).toEqual([200, undefined]);
  });

  test('a list of thousands of persons counts all of them', async () => {
    const response = await ask(FULL_TEXTS['a list of persons'] ?? '');
    const listed = (FULL_TEXTS['a list of persons'] ?? '').match(/"u\d+"/g)?.length;
    expect(await response.json()).toMatchObject({ rows: [{ count: listed }] });
  });
});

describe('queries beyond the limits', () => {
  test('a query by 600 properties is refused with the number, the limit, the position and advice', async () => {
    const fields = Array.from({ length: 600 }, (_, index) => `event_properties.w${index}`);
    const text = `* | count by ${fields.join(', ')}`;
    const response = await ask(text);
    expect(response.status).toBe(400);
    expect(await detailsOf(response)).toEqual([
      {
        message: 'by has 600 fields; the limit is 16',
        line: 1,
        column: text.indexOf('event_properties.w16') + 1,
        length: 'event_properties.w16'.length,
        hint: 'group by fewer fields, or ask in several queries',
      },
    ]);
  });

  test.each(Object.entries(NASTY_TEXTS))('%s is answered with 200 or 400', async (_, q) => {
    const response = await ask(q);
    expect([200, 400]).toContain(response.status);
    const details = await detailsOf(response);
    if (response.status === 400) expect(details.length).toBeGreaterThan(0);
  });
});

describe('an invalid regular expression', () => {
  const problem = {
    message: 'the regular expression has a ( without its )',
    hint: 'a parenthesis itself is written \\(',
  };

  test('is an error of the query with its position', async () => {
    const response = await ask('* | where _path ~ "^/(docs" | count');
    expect(response.status).toBe(400);
    expect(await detailsOf(response)).toEqual([{ ...problem, line: 1, column: 19, length: 9 }]);
  });

  test('is an error of a dashboard with its position', async () => {
    const head =
      'version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - {id: a, title: A, kind: metric, viz: number, query: ';
    const source_yaml = `${head}'* | where _path ~ "^/(docs" | count'}\n`;
    const response = await send('/api/dashboard-sync/paths', 'PUT', { source_yaml });
    expect(response.status).toBe(400);
    expect(await detailsOf(response)).toEqual([
      { ...problem, path: 'sections[0].cards[0].query', line: 6, column: expect.any(Number) },
    ]);
  });
});

// A pattern that the compiler accepts must be valid for ClickHouse. The table has a row, so that
// the pattern is compiled.
test.each([
  ['^/(docs|pricing)/?$'],
  ['[[:alpha:]]+\\d{2,}?'],
  ['\\pL\\p{Greek}[^\\P{Lu}]'],
  ['(?i)(?:a|b)(?P<name>c)'],
  ['\\Qa.b\\E\\x{1F600}'],
  ['(a{0,30}){33}'],
  ['.{400}'],
])('ClickHouse accepts the valid regular expression %s', async (pattern) => {
  const response = await ask(`* | where event_properties.w0 ~ "${pattern.replaceAll('\\', '\\\\')}" | count`);
  expect(response.status).toBe(200);
});
