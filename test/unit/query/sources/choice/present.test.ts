// Conversion of the engine's counts to the packet of a choice. The statistics have their own tests.
import { expect, test } from 'vitest';
import { formatCsv } from '../../../../../src/query/csv.js';
import { formatLlm } from '../../../../../src/query/markdown.js';
import { presentChoice } from '../../../../../src/query/sources/choice/present.js';
import { formatJson } from '../../../../../src/query-api/formats/json.js';
import type { Answer } from '../../../../../src/query-api/shape.js';

const ASKED = {
  kind: 'choice',
  order: [],
  choiceKey: 'k',
  conversionEvent: 'pay',
  unit: 'user_id',
  nowMs: 1_000_000,
} as const;

const ROWS = [
  // Units: variant, units, conversions, immature ones.
  [0, 'control', 10, 2, 1, 0, null, 0, 0],
  [0, 'blue', 20, 5, 3, 0, null, 0, 0],
  [0, '', 4, 1, 4, 0, null, 0, 0],
  // Exposures: variant, those without a unit, weight, first and last.
  [1, 'blue', 0, 0, 0, 1, 2, 3_000, 9_000],
  [1, 'control', 0, 0, 0, 2, 1, 2_000, 8_000],
  [1, 'only-mixed', 0, 0, 0, 0, 1, 4_000, 4_000],
];

test('presentChoice() puts each count into its column and field', () => {
  const { rows, extraFields } = presentChoice(ASKED, ROWS);
  expect(
    rows.map(([variant, exposures, conversions, rate, , , weight]) => [variant, exposures, conversions, rate, weight]),
  ).toEqual([
    ['control', 10, 2, 0.2, 1],
    ['blue', 20, 5, 0.25, 2],
    ['only-mixed', 0, 0, null, 1],
  ]);
  expect(extraFields).toMatchObject({
    choice_key: 'k',
    conversion_event: 'pay',
    generated_at: '1970-01-01T00:16:40Z',
    diagnostics: {
      multi_variant_units: 4,
      exposures_without_unit: 3,
      immature_units: 4,
      first_exposure_at: '1970-01-01T00:00:02Z',
      last_exposure_at: '1970-01-01T00:00:09Z',
    },
    decision_status: 'collecting',
  });
});

test('the percentile of winsorized values has 13 significant digits', () => {
  const value = [2, 5.5, 1, 2935.999999999997, 0, 0, 0];
  const rows = ROWS.slice(0, 2).map((row) => [...row, ...value]);
  const { extraFields } = presentChoice({ ...ASKED, value: 'sum(pay, price)' }, rows);
  expect(extraFields).toMatchObject({ method: { winsorized_at: 2936 } });
});

test('presentChoice() without exposures has no rows', () => {
  const { rows, extraFields } = presentChoice(ASKED, []);
  expect(rows).toEqual([]);
  expect(extraFields).toMatchObject({ variants: [], diagnostics: { first_exposure_at: null, multi_variant_units: 0 } });
});

test('the text describes the first 20 of many comparisons, with short names, and every warning', () => {
  const many = Array.from({ length: 300 }, (_, index) => [1, 'x'.repeat(500) + index, 0, 0, 0, 0, null, 1, 1]);
  const { rows, extraFields, footnotes = [] } = presentChoice(ASKED, many);
  expect([rows.length, extraFields?.comparisons]).toEqual([300, expect.objectContaining({ length: 299 })]);
  const compared = footnotes.filter((line) => line.includes(': lift '));
  expect(compared).toHaveLength(20);
  expect(compared[0]).toMatch(/^x{64}… against x{64}…: lift none/);
  expect(footnotes).toContain('279 more comparisons: format json has all.');
  expect(footnotes).toContainEqual(expect.stringContaining('there are 300 variants'));
});

test('the text has the rates of guards, and 20 comparisons at most', () => {
  const rows = ROWS.map((row, index) => [...row, [index === 0 ? 4 : 1, 0]]);
  const { footnotes } = presentChoice({ ...ASKED, guards: ['error', 'refund[price > 5]'] }, rows);
  expect(footnotes?.filter((line) => line.startsWith('Guard '))).toEqual([
    'Guard error: blue against control: lift -35% (-100% to 100%), 5% of the units against 40%.',
    'Guard error: only-mixed against control: lift none (-100% to 100%), none of the units against 40%.',
    'Guard refund[price > 5]: blue against control: lift 0% (-100% to 100%), 0% of the units against 0%.',
    'Guard refund[price > 5]: only-mixed against control: lift none (-100% to 100%), none of the units against 0%.',
  ]);
  const many = Array.from({ length: 31 }, (_, index) => [1, `v${index}`, 0, 0, 0, 0, null, 1, 1, []]);
  const { footnotes: long = [] } = presentChoice({ ...ASKED, guards: ['error'] }, many);
  expect(long.filter((line) => line.includes(': lift '))).toHaveLength(20);
  expect(long).toContain('40 more comparisons: format json has all.');
});

test('a probability of almost 0 is not shown as 0', () => {
  const rows = [
    [0, 'control', 1_000, 100, 0, 0, null, 0, 0],
    [0, 'blue', 1_000, 400, 0, 0, null, 0, 0],
    ...ROWS.slice(3, 5),
  ];
  expect(presentChoice(ASKED, rows).footnotes).toContainEqual(
    expect.stringMatching(/always-valid p-value below 0\.0001\.$/),
  );
});

test('JSON has rows and packet, Markdown rows and decision, CSV rows only', () => {
  const { rows, extraFields = {}, footnotes = [] } = presentChoice(ASKED, ROWS);
  const types = ['text', 'number', 'number', 'rate', 'rate', 'rate', 'number'] as const;
  const names = ['variant_key', 'exposures', 'conversions', 'rate', 'ci_low', 'ci_high', 'weight'];
  const answer: Answer = {
    columns: names.map((name, index) => ({ name, type: types[index] ?? 'text' })),
    rows,
    metric: undefined,
    total: rows.length,
    isTruncated: false,
    hasMore: false,
    elapsedMs: 1,
    rowsScanned: 1,
    period: { from: 'a', to: 'b' },
    timezone: 'UTC',
    mode: 'choice',
    warnings: [],
    extraFields,
    footnotes,
  };
  const json = JSON.parse(formatJson(answer));
  expect(json.rows).toHaveLength(3);
  expect(json.rows[1].variant_key).toBe('blue');
  expect(json.variants[1].variant_key).toBe('blue');
  expect(json.mode).toBe('choice');
  expect(formatLlm(answer, 'choice k | results pay')).toMatch(
    /\| +20% \|[\s\S]*Decision: collecting\.\nblue against control: /,
  );
  expect(formatCsv(answer).split('\r\n')[2]).toMatch(/^blue,20,5,0\.25,/);
});
