// Formats of answers: json, csv and llm.
import { describe, expect, test } from 'vitest';
import type { Cell } from '../../../src/query/cell.js';
import { formatCsv } from '../../../src/query/csv.js';
import { formatLlm } from '../../../src/query/markdown.js';
import { formatJson } from '../../../src/query-api/formats/json.js';
import { anAnswer } from './answers.js';

const oneCell = (cell: Cell) =>
  anAnswer({ columns: [{ name: 'x', type: 'text' }], rows: [[cell]], metric: undefined, total: 1 });

describe('formatJson', () => {
  test('writes columns and rows with value and metric', () => {
    expect(JSON.parse(formatJson(anAnswer()))).toEqual({
      columns: ['day', 'event_properties.plan', 'count'],
      rows: [
        { day: '2026-11-13', 'event_properties.plan': 'pro', count: 10, value: 10, metric: 'count' },
        { day: '2026-11-14', 'event_properties.plan': null, count: 2.5, value: 2.5, metric: 'count' },
      ],
      total: 2,
      elapsed_ms: 12,
      rows_scanned: 51_234,
      period: '2026-11-13T09:30:00Z/2026-11-20T09:30:00Z',
      timezone: 'UTC',
      mode: 'aggregate',
      metadata: {},
    });
  });

  test('writes truncation and warnings to the metadata', () => {
    const { metadata } = JSON.parse(formatJson(anAnswer({ isTruncated: true, warnings: ['beware'] })));
    expect(metadata).toEqual({ truncated: true, warnings: ['beware'] });
  });

  test('writes both ranges of a comparison to the metadata', () => {
    const earlier = { from: '2026-11-06T09:30:00Z', to: '2026-11-13T09:30:00Z' };
    expect(JSON.parse(formatJson(anAnswer({ earlier }))).metadata).toEqual({
      compare: { current: { from: '2026-11-13T09:30:00Z', to: '2026-11-20T09:30:00Z' }, previous: earlier },
    });
    expect(formatLlm(anAnswer({ earlier }), '*')).toContain(
      'Compared with: 2026-11-06T09:30:00Z to 2026-11-13T09:30:00Z. Time zone',
    );
  });

  test('leaves out value and metric without a measure', () => {
    expect(JSON.parse(formatJson(oneCell('a'))).rows).toEqual([{ x: 'a' }]);
  });

  test('accepts any column name', () => {
    const text = formatJson(
      anAnswer({ columns: [{ name: '__proto__', type: 'text' }], rows: [['a']], metric: undefined }),
    );
    expect(text).toContain('"rows":[{"__proto__":"a"}]');
  });
});

describe('formatCsv', () => {
  test('writes a header row and terminates every line', () => {
    expect(formatCsv(anAnswer())).toBe('day,event_properties.plan,count\r\n2026-11-13,pro,10\r\n2026-11-14,,2.5\r\n');
  });

  test.each<[Cell, string]>([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['+SUM(A1)', "'+SUM(A1)"],
    ['-1+1', "'-1+1"],
    ['@import', "'@import"],
    ['\tx', '"\'\tx"'],
    ['=a,"b"', '"\'=a,""b"""'],
    ['-5', '-5'],
    ['+1.5e3', '+1.5e3'],
    [-5, '-5'],
    [true, 'true'],
    [null, ''],
    ['', ''],
    [{ a: 'x,y' }, '"{""a"":""x,y""}"'],
  ])('writes %j as %s', (cell, field) => {
    expect(formatCsv(oneCell(cell))).toBe(`x\r\n${field}\r\n`);
  });

  test('escapes formulas in the header', () => {
    const columns = [{ name: 'event_properties."=1,2"', type: 'text' as const }];
    expect(formatCsv(anAnswer({ columns, rows: [], metric: undefined }))).toBe('"event_properties.""=1,2"""\r\n');
  });
});

describe('formatLlm', () => {
  test('writes a heading, a table with right-aligned numbers, and a footer', () => {
    expect(formatLlm(anAnswer(), 'signup | count')).toBe(
      [
        '## signup | count',
        '',
        '| day        | event_properties.plan | count |',
        '| ---------- | --------------------- | ----: |',
        '| 2026-11-13 | pro                   |    10 |',
        '| 2026-11-14 | (none)                |   2.5 |',
        '',
        'Period: 2026-11-13T09:30:00Z to 2026-11-20T09:30:00Z. Time zone: UTC. Rows: 2 of 2.',
        '',
      ].join('\n'),
    );
  });

  test.each<[Cell, string]>([
    ['a|b', 'a\\|b'],
    ['a\\|b', 'a\\\\\\|b'],
    ['a\r\nb\nc', 'a\\nb\\nc'],
    ['', ''],
    [null, '(none)'],
    [{ a: 1 }, '{"a":1}'],
  ])('writes %j as %s', (cell, text) => {
    expect(formatLlm(oneCell(cell), 'q').split('\n')[4]?.replace(/ +\|$/, ' |')).toBe(
      `| ${text} |`.replace('|  |', '| |'),
    );
  });

  test('writes truncation and warnings to the footer', () => {
    const text = formatLlm(
      anAnswer({ total: 250, isTruncated: true, hasMore: true, warnings: ['beware of this'] }),
      'q',
    );
    expect(text).toContain('Rows: 2 of 250; more with limit and offset of the request.\nWarning: beware of this.\n');
  });

  test('writes a query of several lines into the heading', () => {
    expect(formatLlm(anAnswer(), ' signup\n| count\r\n').split('\n')[0]).toBe('## signup | count');
  });
});
