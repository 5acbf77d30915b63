// hideValues: the text of a query without values, for audit entries, which must not contain ids of
// people.
import { expect, test } from 'vitest';
import { hideValues } from '../../../src/query/parse/hide-values.js';

test.each([
  ['user "ann" | people', 'user "…" | people'],
  [
    'a | where user_id = ann and x in ("b", c, 7) | people',
    'a | where user_id = "…" and x in ("…", "…", "…") | people',
  ],
  ['a[event_properties."my key" ~ "^a"] | people', 'a[event_properties."my key" ~ "…"] | people'],
  ['"my event" | where price > -5 | last 30d | people', '"my event" | where price > "…" | last 30d | people'],
  ['a | where time > 2026-11-01 | people # of ann', 'a | where time > "…" | people '],
  ['a | where not user.email contains "x" | people', 'a | where not user.email contains "…" | people'],
  ['funnel a -> b | people at 2', 'funnel a -> b | people at 2'],
])('hideValues() of %s', (query, hidden) => {
  expect(hideValues(query)).toBe(hidden);
});
