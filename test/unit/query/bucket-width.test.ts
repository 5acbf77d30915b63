import { expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';

const context = {
  projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
  timezone: 'UTC',
  ...{ nowMs: Date.parse('2026-11-05T00:00:00Z'), limit: 10, offset: 0 },
};

test.each([
  ['purchase | last 7d | count by bucket(price, 10)', 10],
  ['purchase | last 7d | count by _country, bucket("a, (b)", 0.5)', 0.5],
  ['purchase | last 7d | where event_properties.note = "bucket(a, 5)" | count by bucket(price, 10)', 10],
  ['purchase # not bucket(price, 5)\n| last 7d | count by bucket(price, 10)', 10],
  ['purchase | last 7d | sum price by bucket(price, 10) | compare previous', 10],
  ['formula count(purchase) / count(view) | last 7d | by bucket(price, 10)', 10],
  ['* | last 7d | latest event_properties.score per user_id | count by bucket(last_value, 10)', 10],
  ['users | count by bucket(user.age, 10)', 10],
  ['purchase | last 7d | count by day', undefined],
])('the metadata of %s has the width of its groups', (query, width) => {
  expect(compile(query, context).metadata?.bucket_width).toBe(width);
});
