import { expect, test } from 'vitest';
import type { AlertAnswer, AlertQuestion } from '../../../src/alerts/run-query.js';
import { configSchema } from '../../../src/dashboards/config-schema.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { runCards } from '../../../src/reports/run-cards.js';

const card = (id: string, fields: object = { query: `${id} | count` }) => ({
  ...{ id, title: id.toUpperCase(), kind: 'metric', viz: 'number' },
  ...fields,
});
const configOf = (...cards: object[]) =>
  configSchema.parse({ version: 1, title: 'T', sections: [{ title: 'S', cards }] });
const rows = (...values: readonly unknown[]): AlertAnswer => ({
  ...{ kind: 'rows', columns: ['count', 'previous', 'change'], total: values.length },
  rows: values.map((value) => ({ count: value, previous: 1000, change: 0.2345, value, metric: 'count' })),
  ...{ isTruncated: false, isCompared: true, mode: 'aggregate', hasMeans: false },
});

async function run(config: ReturnType<typeof configOf>, answer: (q: AlertQuestion) => AlertAnswer, more: object = {}) {
  const asked: AlertQuestion[] = [];
  const cards = await runCards({
    ...{ config, timezone: 'Europe/Berlin', personId: 'reports', withinMs: 60_000, ...more },
    projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
    signal: AbortSignal.timeout(60_000),
    runQuery: async (question) => {
      asked.push(question);
      return answer(question);
    },
  });
  return { asked, cards };
}

test('each query of a card is asked once in the zone of the document or the project, and shown formatted', async () => {
  const several = {
    queries: [
      { name: 'Web', query: 'b | count' },
      { name: 'App', query: 'c {{range.stage}} | count' },
    ],
  };
  const { asked, cards } = await run(configOf(card('a'), card('b', several)), () => rows(1234.5678));
  expect(asked.map(({ query, timezone }) => [query, timezone])).toEqual([
    ['a | count', 'Europe/Berlin'],
    ['b | count', 'Europe/Berlin'],
    ['c | last 7d | count', 'Europe/Berlin'],
  ]);
  const inTokyo = await run({ ...configOf(card('a')), timezone: 'Asia/Tokyo' }, () => rows(1));
  expect(inTokyo.asked).toMatchObject([{ timezone: 'Asia/Tokyo' }]);
  expect(cards?.map(({ title }) => title)).toEqual(['A', 'B: Web', 'B: App']);
  expect(cards?.[0]).toMatchObject({
    rows: [['1,234.5678', '1,000', '+23.5\u202f%']],
    numbers: [true, true, true],
    total: 1,
  });
});

test('rates, and numbers of which the document says so, are percentages; means are not', async () => {
  const shown = async (answer: object) => {
    const { cards } = await run(configOf(card('a')), () => ({ ...rows(1), ...answer }) as AlertAnswer);
    return cards?.map((each) => ('rows' in each ? each.rows : each.error));
  };
  const funnel = {
    ...{ mode: 'funnel', columns: ['step', 'users', 'rate', 'previous_rate', 'change_rate'] },
    rows: [{ step: 1, users: 1234, rate: 0.125, previous_rate: 0.1, change_rate: 0.25 }],
  };
  expect(await shown(funnel)).toEqual([[['1', '1,234', '12.5\u202f%', '10.0\u202f%', '+25\u202f%']]]);
  const choice = { mode: 'choice', columns: ['rate'], rows: [{ rate: 0.125 }], isCompared: false };
  expect(await shown(choice)).toEqual([[['12.5\u202f%']]]);
  expect(await shown({ ...choice, hasMeans: true })).toEqual([[['0.125']]]);
  const share = { mode: 'aggregate', columns: ['share'], rows: [{ share: 0.125 }], isCompared: false };
  expect(await shown(share)).toEqual([[['12.5\u202f%']]]);
  const number = card('a', { query: 'metric activation', options: { percent: true } });
  const { cards } = await run(configOf(number), () => rows(0.5));
  expect(cards?.[0]).toMatchObject({ rows: [['50.0\u202f%', '100,000.0\u202f%', '+23.5\u202f%']] });
});

test('a card that fails does not hide the others, notes are left out, and lists of people are not run', async () => {
  const config = configOf(
    card('a'),
    card('note', { kind: 'markdown', viz: 'markdown', markdown: '# Hello' }),
    card('people', { kind: 'table', viz: 'table', query: 'signup | last 7d | people' }),
    card('c'),
  );
  const { asked, cards } = await run(config, ({ query }) =>
    query.startsWith('a') ? { kind: 'failed', error: 'timed out' } : rows(1),
  );
  expect(asked.map(({ query }) => query)).toEqual(['a | count', 'c | count']);
  expect(cards).toEqual([
    { title: 'A', error: 'timed out' },
    { title: 'PEOPLE', error: 'lists people: see the dashboard' },
    expect.objectContaining({ title: 'C', total: 1 }),
  ]);
});

test('of a series in time the newest rows are shown, of everything else the first', async () => {
  const days = Array.from({ length: 31 }, (_, index) => `2026-10-${String(index + 1).padStart(2, '0')}`);
  const answerOf =
    (column: string, values: readonly string[]) =>
    ({ offset = 0, rowsMax = 1000 }: AlertQuestion): AlertAnswer => ({
      ...{ kind: 'rows', columns: [column, 'count'], total: values.length, isTruncated: true, isCompared: false },
      ...{ mode: 'aggregate', hasMeans: false },
      rows: values.slice(offset, offset + rowsMax).map((value) => ({ [column]: value, count: 1 })),
    });
  const shown = async (column: string, values: readonly string[]) => {
    const { asked, cards } = await run(configOf(card('a')), answerOf(column, values));
    const [table] = cards ?? [];
    if (table === undefined || 'error' in table) throw new Error('no rows');
    return [table.rows.map(([first]) => first), table.rows_before, asked.length];
  };
  expect(await shown('day', days)).toEqual([days.slice(21), 21, 2]);
  expect(await shown('period', days)).toEqual([days.slice(21), 21, 2]);
  expect(await shown('day', days.slice(0, 10))).toEqual([days.slice(0, 10), 0, 1]);
  // Sorted by something else.
  expect(await shown('day', days.toReversed())).toEqual([days.toReversed().slice(0, 10), 0, 1]);
  expect(await shown('_country', days)).toEqual([days.slice(0, 10), 0, 1]);
  expect(await shown('weekday', days)).toEqual([days.slice(0, 10), 0, 1]);
  const failing = await run(configOf(card('a')), (question) =>
    question.offset ? { kind: 'failed', error: 'timed out' } : answerOf('day', days)(question),
  );
  expect(failing.cards).toMatchObject([{ rows_before: 0, total: 31 }]);
  const many = configOf(...Array.from({ length: 60 }, (_, index) => card(`c${index}`)));
  expect((await run(many, answerOf('day', days))).asked).toHaveLength(50);
});

test('a report is bounded in queries, size and time, and names the cards that it leaves out', async () => {
  const many = configOf(...Array.from({ length: 60 }, (_, index) => card(`c${index}`)));
  const bounded = await run(many, () => rows(1));
  expect(bounded.asked).toHaveLength(50);
  expect(bounded.cards).toHaveLength(60);
  expect(bounded.cards?.at(-1)).toEqual({ title: 'C59', error: 'not shown: a report has at most 50 queries' });
  const long = Array.from({ length: 200 }, () => 'x'.repeat(1000));
  const large = await run(
    many,
    () => ({ ...rows(...long), columns: Array.from({ length: 40 }, () => 'count') }) as AlertAnswer,
  );
  expect(large.cards?.[0]).toMatchObject({ columns_left_out: 28, total: 200 });
  expect(JSON.stringify(large.cards).length).toBeLessThan(130_000);
  expect(large.cards?.at(-1)).toEqual({ title: 'C59', error: 'not shown: the report is too long' });
  const late = await run(many, () => rows(1), { withinMs: -1 });
  expect(late.asked).toEqual([]);
});

test('a run ends when its claim is over', async () => {
  const claims = [true, true, false];
  const { asked, cards } = await run(configOf(card('a'), card('b'), card('c')), () => rows(1), {
    mayContinue: async () => claims.shift(),
  });
  expect([asked.length, cards]).toEqual([2, undefined]);
});
