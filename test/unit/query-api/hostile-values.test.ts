// Hostile stored values in every format: each stays text in its own cell.
import { describe, expect, test } from 'vitest';
import { formatCsv } from '../../../src/query/csv.js';
import { formatLlm } from '../../../src/query/markdown.js';
import {
  CSV_PAYLOADS,
  formulasIn,
  linksIn,
  MARKDOWN_PAYLOADS,
  readCsv,
  readMarkdown,
} from '../../support/hostile-values.js';
import { anAnswer } from './answers.js';

const answerOf = (values: readonly string[]) =>
  anAnswer({
    columns: [
      { name: 'first', type: 'text' },
      ...values.map((value) => ({ name: value, type: 'text' as const })),
      { name: 'last', type: 'text' },
    ],
    rows: [['a', ...values, 'z']],
    metric: undefined,
    total: 1,
  });

const BLOCKS = ['heading_open', 'table_open', 'paragraph_open'];

const READABLE = [
  'https://example.com/a_b/c?d=e&copy=1#f',
  '/pricing',
  '_hostname',
  'event_properties.plan_name',
  'C3PO & R2-D2',
  'Zoë, 東京, مرحبا',
  'می‌خواهم',
  '👩‍🚀 ❤️ 👍🏽',
  '2 * 3 = 6',
  'why not?!',
];

describe('hostile values in formatLlm', () => {
  test.each(MARKDOWN_PAYLOADS)('%j stays text in its own cell', (payload) => {
    const read = readMarkdown(formatLlm(answerOf([payload]), 'q'));
    expect(read).toMatchObject({ blocks: BLOCKS, markup: [], isAllVisible: true });
    expect(read.cells).toEqual([
      ['first', expect.any(String), 'last'],
      ['a', expect.any(String), 'z'],
    ]);
  });

  test.each(MARKDOWN_PAYLOADS)('%j adds no markup to heading, notes and warnings', (payload) => {
    const footnotes = ['Decision: collecting.', `${payload} against control: lift 1%.`];
    const text = formatLlm({ ...answerOf(['x']), footnotes, warnings: [payload] }, `x ${payload} # "y"`);
    expect(readMarkdown(text)).toMatchObject({ blocks: BLOCKS, markup: [], isAllVisible: true });
  });

  test.each(READABLE)('%j is unchanged', (value) => {
    const text = formatLlm(answerOf([value]), 'q');
    expect(text).toContain(`| ${value} `);
    expect(readMarkdown(text).cells[1]?.[1]).toBe(value);
  });

  test('a Markdown renderer shows the original values', () => {
    const values = MARKDOWN_PAYLOADS.filter((payload) => /^[ -~]+$/.test(payload) && payload.trim() === payload);
    expect(values.length).toBeGreaterThan(25);
    expect(readMarkdown(formatLlm(answerOf(values), 'q')).cells[1]).toEqual(['a', ...values, 'z']);
  });

  test('links that a renderer adds show their target', () => {
    const links = linksIn(formatLlm(answerOf([...MARKDOWN_PAYLOADS, ...READABLE]), 'q'));
    expect(links.length).toBeGreaterThan(0);
    expect(new Set(links)).toEqual(new Set(['linkify']));
  });
});

describe('hostile values in formatCsv', () => {
  const csvOf = (...values: string[]) => formatCsv(answerOf(values));

  test.each(CSV_PAYLOADS)('%j is no formula with any cell separator', (payload) => {
    expect(formulasIn(csvOf(payload))).toEqual([]);
    expect(formulasIn(formatCsv({ ...answerOf([payload]), rows: [[payload, payload, payload]] }))).toEqual([]);
  });

  test.each(CSV_PAYLOADS)('%j is complete except for added apostrophes', (payload) => {
    for (const cells of readCsv(csvOf(payload))) {
      expect(cells).toHaveLength(3);
      expect(cells[1]?.replaceAll("'", '')).toBe(payload.replaceAll("'", ''));
    }
  });

  test.each([
    '-5',
    '+1.5e3',
    '0',
    '1;2',
    'a;-5',
    'Mozilla/5.0 (X11; Linux x86_64)',
    'a=b',
    'a, =b',
    '{"a":"b"}',
    '😀',
    'é;ü',
  ])('%j is unchanged', (value) => {
    expect(readCsv(csvOf(value))[1]?.[1]).toBe(value);
  });

  test('properties stay valid JSON', () => {
    const cell = { note: 'x;=1+1', list: '=1' };
    const text = formatCsv(
      anAnswer({ columns: [{ name: 'p', type: 'properties' }], rows: [[cell]], metric: undefined }),
    );
    expect(JSON.parse(readCsv(text)[1]?.[0] ?? '')).toEqual({ note: "x;'=1+1", list: '=1' });
  });
});
