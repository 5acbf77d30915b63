import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { PublicError } from '../../../src/platform/errors.js';
import { AnswerNotWanted } from '../../../src/query-api/engine-failures.js';
import { createQueryMetrics } from '../../../src/query-api/metrics.js';

test.each([
  ['answered', undefined],
  ['timed_out', new PublicError('timed_out', 'the query took longer than 30 s')],
  ['cancelled', new AnswerNotWanted()],
  ['failed', new Error('a bug')],
])('the time of a query that is %s is measured', async (outcome, error) => {
  const registry = new Registry();
  const measure = createQueryMetrics(registry, { running: 0, waiting: 0, projects: 0 }).begin();
  measure.compiled({ mode: 'funnel' });
  measure.end(error);
  expect(await registry.metrics()).toContain(`query_duration_seconds_count{mode="funnel",outcome="${outcome}"} 1`);
});
