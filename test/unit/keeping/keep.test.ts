// Edges of keeping: which events they are of, where they are, and which queries look behind them.
import { describe, expect, test } from 'vitest';
import { edgesOf, type Keep, warningsOfKeep } from '../../../src/keeping/keep.js';

const NOW = Date.parse('2026-11-22T23:59:59.999Z');
const KEEP: Keep = {
  default: 400,
  events: [
    { event: 'page_view', days: 90 },
    { event: 'scroll', days: 90 },
    { event: 'order', days: 3650 },
  ],
};

test('edges are starts of days, so that whole days are kept; equal ones are one', () => {
  const shown = (nowMs: number) =>
    edgesOf(KEEP, nowMs).map(({ events, beforeMs }) => [events?.join() ?? '*', new Date(beforeMs).toISOString()]);
  const edges = [
    ['page_view,scroll', '2026-08-24T00:00:00.000Z'],
    ['order', '2016-11-24T00:00:00.000Z'],
    ['*', '2025-10-18T00:00:00.000Z'],
  ];
  expect(shown(NOW)).toEqual(edges);
  expect(shown(Date.parse('2026-11-22T00:00:00Z'))).toEqual(edges);
});

describe('a query behind an edge is warned', () => {
  const warnings = (events: readonly string[], from: string, earlier?: string, keep: Keep | undefined = KEEP) => {
    const range = { fromMs: Date.parse(from), toMs: NOW };
    const asked = { range, mentions: { events: new Set(events) } };
    const all =
      earlier === undefined ? asked : { ...asked, earlier: { fromMs: Date.parse(earlier), toMs: range.fromMs } };
    return warningsOfKeep(keep, all, NOW);
  };

  test.each<[string[], string, string[]]>([
    [['page_view'], '2026-08-24T00:00:00Z', []],
    [['page_view'], '2026-08-23T23:59:59Z', ['events page_view before 2026-08-24 are not kept (keep: 90d)']],
    [['order'], '2020-01-01', []],
    [['signup'], '2026-01-01', []],
    [['signup', 'order'], '2025-01-01', ['other events before 2025-10-18 are not kept (keep: 400d)']],
    [[], '2026-01-01', ['events page_view, scroll before 2026-08-24 are not kept (keep: 90d)']],
  ])('of %j since %s', (events, from, expected) => {
    expect(warnings(events, from)).toEqual(expected);
  });

  test('also by its comparison, and never without keep', () => {
    expect(warnings(['scroll'], '2026-11-01', '2026-06-01')).toHaveLength(1);
    expect(warnings([], '2001-01-01', undefined, { default: 30, events: [] })).toEqual([
      'events before 2026-10-23 are not kept (keep: 30d)',
    ]);
    expect(
      warningsOfKeep(undefined, { range: { fromMs: 0, toMs: NOW }, mentions: { events: new Set() } }, NOW),
    ).toEqual([]);
  });
});

test('without a default only the named types have an edge', () => {
  const keep: Keep = { events: [{ event: 'view', days: 30 }] };
  const nowMs = Date.parse('2026-11-20T09:30:00Z');
  expect(edgesOf(keep, nowMs)).toEqual([{ events: ['view'], days: 30, beforeMs: Date.parse('2026-10-21') }]);
});
