// The Markdown that the console writes of the answer it shows, against that of the service.
import { expect, test } from 'vitest';
import type { Answer } from '../../../console/src/api/answer.js';
import { toMarkdown } from '../../../console/src/ask/answer-markdown.js';
import { formatLlm } from '../../../src/query/markdown.js';
import { remarksOn } from '../../../src/query/remarks.js';
import { presentChoice } from '../../../src/query/sources/choice/present.js';
import { formatJson } from '../../../src/query-api/formats/json.js';
import type { Answer as ServiceAnswer } from '../../../src/query-api/shape.js';
import { anAnswer } from '../query-api/answers.js';

const ROWS_MAX = 10_000;
const Q = 'purchase | last 7d | count by day';
const written = (answer: ServiceAnswer, rowsMax = ROWS_MAX): string =>
  toMarkdown(JSON.parse(formatJson(answer)) as Answer, { q: Q, rowsMax });

const METADATA = {
  partial: [{ day: '2026-11-13' }],
  annotations: [{ at: '2026-11-13', time: '2026-11-13T00:00:00Z', text: 'Sale *began*' }],
  unit: 'device_id',
  without_unit: 3,
} as unknown as NonNullable<ServiceAnswer['metadata']>;

test.each<[what: string, changes: Partial<ServiceAnswer>]>([
  ['times and numbers', {}],
  ['warnings', { warnings: ['a | b', 'c'], timezone: 'Asia/Tehran' }],
  ['remarks', { metadata: METADATA, footnotes: remarksOn(METADATA) }],
  [
    'rates',
    {
      mode: 'funnel',
      columns: [
        { name: 'step', type: 'number' },
        { name: 'event', type: 'text' },
        { name: 'rate', type: 'rate' },
        { name: 'median_seconds', type: 'number' },
      ],
      rows: [
        [1, 'a|b', 0.123456, null],
        [2, '<b>', 1, 0.12345678],
      ],
    },
  ],
  ['coverage', { mode: 'inspect', columns: [{ name: 'coverage', type: 'percent' }], rows: [[12.3456], [null]] }],
  [
    'paths',
    {
      mode: 'paths',
      columns: [
        { name: 'path', type: 'path' },
        { name: 'users', type: 'number' },
      ],
      rows: [[['a', 'b, c'], 12]],
    },
  ],
  [
    'a compared range',
    {
      columns: [
        { name: 'count', type: 'number' },
        { name: 'previous_count', type: 'number' },
        { name: 'change_count', type: 'rate' },
      ],
      rows: [[10, 8, 0.25]],
      earlier: { from: '2026-11-06T09:30:00Z', to: '2026-11-13T09:30:00Z' },
    },
  ],
])('has the text of format llm: %s', (_, changes) => {
  const answer = anAnswer({ metric: undefined, total: changes.rows?.length ?? 2, ...changes });
  expect(written(answer)).toBe(formatLlm(answer, Q));
});

test.each([undefined, 'sum(purchase, total)'])('has the decision of a choice by %s', (value) => {
  const asked = {
    ...{ kind: 'choice', choiceKey: 'checkout', conversionEvent: 'purchase', unit: 'user', order: [] },
    ...{ nowMs: Date.parse('2026-11-20T09:30:00Z'), guards: [], ...(value !== undefined && { value }) },
  } as unknown as Parameters<typeof presentChoice>[0];
  const row = (isExposures: number, variant: string, converted: number) =>
    [isExposures, variant, 1000, converted, 0, 0, 0.5, 1_790_000_000_000, 1_790_100_000_000].concat(
      value === undefined ? [] : ([1000, 5, 2, null, 0, 0, 0] as never[]),
      [[]] as never[],
    );
  const rows = [row(1, 'a', 0), row(1, 'b', 0), row(0, 'a', 100), row(0, 'b', 180)];
  const { rows: shown, extraFields, footnotes = [] } = presentChoice(asked, rows);
  const type = value === undefined ? 'rate' : 'number';
  const answer = anAnswer({
    ...{ mode: 'choice', metric: undefined, rows: shown, total: 2, footnotes, ...(extraFields && { extraFields }) },
    columns: [
      { name: 'variant', type: 'text' },
      { name: 'exposures', type: 'number' },
      { name: 'conversions', type: 'number' },
      { name: 'rate', type },
      { name: 'ci_low', type },
      { name: 'ci_high', type },
      { name: 'weight', type: 'number' },
    ],
  });
  expect(footnotes.join()).toContain('Decision:');
  expect(written(answer)).toBe(formatLlm(answer, Q));
});

test('says how many rows are not shown', () => {
  expect(written(anAnswer(), 1)).toContain('Rows: 1 of 2; more with limit and offset of the request.');
});
