// Columns of an answer: what they contain, and how their cells are shown.
import { expect, test } from 'vitest';
import { columnsOf, type ShownColumn, showCell, splitColumns } from '../../../console/src/answer/columns.js';
import type { Answer, Row } from '../../../console/src/api/answer.js';
import { averageAt, cohortsOf, incompleteIn } from '../../../console/src/charts/cohorts.js';

const answerOf = (rows: readonly Row[], mode: Answer['mode'] = 'aggregate', metadata = {}): Answer => ({
  ...{ columns: Object.keys(rows[0] ?? {}), rows, total: rows.length, elapsed_ms: 1, rows_scanned: 1 },
  ...{ period: '2026-03-01T00:00:00Z/2026-03-04T00:00:00Z', mode, metadata },
});

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

test.each([
  ['aggregate', { day: '2026-03-01' }, 'bucket', 'Sun, 1 Mar 2026'],
  ['aggregate', { hour: '2026-03-01T20:30:00Z' }, 'bucket', '2 Mar 2026, 00:00'],
  ['aggregate', { weekday: 1 }, 'cycle', 'Mon'],
  ['aggregate', { paid: true }, 'text', 'true'],
  ['aggregate', { at: '2026-03-01T20:30:00Z' }, 'time', '2 Mar 2026, 00:00:00'],
  ['paths', { path: ['a', 'b'] }, 'path', 'a → b'],
  ['inspect', { samples: ['18', '24'] }, 'text', '18 · 24'],
  ['aggregate', { coverage: 12.5 }, 'number', '12.5'],
  ['fields', { coverage: 12.5 }, 'percent', '12.5 %'],
  ['inspect', { coverage: 100 }, 'percent', '100.0 %'],
  ['funnel', { median_seconds: 204 }, 'seconds', '3 min 24 s'],
  ['sessions', { day: '2026-03-01' }, 'date', '1 Mar 2026'],
  ['retention', { cohort: '2026-03-01' }, 'date', '1 Mar 2026'],
  ['lifecycle', { period: '2026-03-01' }, 'date', '1 Mar 2026'],
  ['retention', { rate: 0.5 }, 'share', '50.0 %'],
  ['aggregate', { share: 0.5 }, 'share', '50.0 %'],
  ['formula', { share: 0.5 }, 'number', '0.5'],
  ['funnel', { within_7d: 0.5 }, 'share', '50.0 %'],
] as const)('in the mode %s the cell of %j is a %s: %s', (mode, row, kind, shown) => {
  const [column] = columnsOf(answerOf([row], mode));
  expect(column?.kind).toBe(kind);
  expect(plain(showCell(column as ShownColumn, Object.values(row)[0], 'Asia/Tehran'))).toBe(shown);
});

test('a missing number is a dash, and another missing cell has a name', () => {
  const shown = (['number', 'share', 'percent', 'seconds', 'change', 'text', 'bucket'] as const).map((kind) =>
    showCell({ name: 'a', kind }, null, 'UTC'),
  );
  expect(shown).toEqual(['–', '–', '–', '–', '–', '(none)', '(none)']);
});

test('the columns of numbers at the end are measures, and the first of them is drawn', () => {
  const row = { plan: 'pro', count: 1, total: 2, average: 3 };
  for (const each of [row, { plan: 'pro', count: 1, share: 0.5 }]) {
    expect(splitColumns(answerOf([each]))).toMatchObject({ groups: [{ name: 'plan' }], measure: { name: 'count' } });
  }
  // A column of this name is of the data, unless the query compares.
  const columns = (metadata: object) =>
    columnsOf(answerOf([{ previous: 0.5, change: 1 }], 'aggregate', metadata)).map(({ kind }) => kind);
  expect([columns({}), columns({ compare: {} })]).toEqual([
    ['number', 'number'],
    ['number', 'change'],
  ]);
});

test('the average of a period is of the cohorts for which it is over', () => {
  const rows = [
    { cohort: '2026-03-01', cohort_size: 10, period: 1, users: 5, rate: 0.5 },
    { cohort: '2026-03-02', cohort_size: 30, period: 1, users: 3, rate: 0.1 },
    { cohort: '2026-03-03', cohort_size: 60, period: 1, users: 1, rate: 0.02 },
  ];
  const answer = answerOf(rows, 'retention', { incomplete: [{ cohort: '2026-03-03', period: 1 }] });
  expect(averageAt(cohortsOf(answer), 1, incompleteIn(answer))).toEqual({ size: 40, users: 8 });
  expect(averageAt(cohortsOf(answer), 2, incompleteIn(answer))).toBeUndefined();
});
