// Answers for the tests of formats.
import type { Answer } from '../../../src/query-api/shape.js';

export const anAnswer = (changes: Partial<Answer> = {}): Answer => ({
  columns: [
    { name: 'day', type: 'date' },
    { name: 'event_properties.plan', type: 'nullable_text' },
    { name: 'count', type: 'number' },
  ],
  rows: [
    ['2026-11-13', 'pro', 10],
    ['2026-11-14', null, 2.5],
  ],
  metric: { name: 'count', column: 'count' },
  total: 2,
  isTruncated: false,
  hasMore: false,
  elapsedMs: 12,
  rowsScanned: 51_234,
  period: { from: '2026-11-13T09:30:00Z', to: '2026-11-20T09:30:00Z' },
  timezone: 'UTC',
  mode: 'aggregate',
  warnings: [],
  ...changes,
});
