import { expect, test } from 'vitest';
import { explain } from '../../../cli/explain.js';

const CONTEXT = { nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC' };

test('every stage is shown', () => {
  const shown = explain('signup | where _country = "DE" | count', CONTEXT);
  expect([...shown.keys()]).toEqual(['parse', 'analyze', 'plan', 'print']);
  expect(shown.get('parse')).toContain(
    '{ kind: "event", event: { matches: [{ name: { text: "signup" } }], written: "signup" } }',
  );
  expect(shown.get('analyze')).toContain('column: "geo_country"');
  expect(shown.get('plan')).toContain('stitching: "none"');
  expect(shown.get('print')).toContain('AND geo_country = {p4:String}');
});

test('a query with problems is shown up to the last completed stage', () => {
  const shown = explain('signup | count by _contry', CONTEXT);
  expect([...shown.keys()]).toEqual(['parse', 'problems']);
  expect(shown.get('problems')).toContain('nearest is "_country"');
});
