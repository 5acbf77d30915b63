// Output of `npm run explain` for valid queries and queries with problems.
import { expect, test } from 'vitest';
import { explain } from '../../../cli/explain.js';

const CONTEXT = { nowMs: Date.parse('2026-11-20T09:30:00Z'), timezone: 'UTC' };

test('explain() shows the output of every compiler stage', () => {
  const shown = explain('signup | where _country = "DE" | count', CONTEXT);
  expect([...shown.keys()]).toEqual(['parse', 'analyze', 'plan', 'print']);
  expect(shown.get('parse')).toContain(
    '{ kind: "event", event: { matches: [{ name: { text: "signup" } }], written: "signup" } }',
  );
  expect(shown.get('analyze')).toContain('column: "geo_country"');
  expect(shown.get('plan')).toContain('kind: "events"');
  expect(shown.get('print')).toMatch(/^SET param_project_id = '[0-9a-f-]{36}';$/m);
  expect(shown.get('print')).toContain("SET param_p4 = 'DE';");
  expect(shown.get('print')).toContain('AND geo_country = {p4:String}');
});

test('explain() shows a query with problems up to the last completed stage', () => {
  const shown = explain('signup | count by _contry', CONTEXT);
  expect([...shown.keys()]).toEqual(['parse', 'problems']);
  expect(shown.get('problems')).toContain('nearest is "_country"');
});
