// What an answer means for the condition of an alert when not all of its rows are read.
import { expect, test } from 'vitest';
import { toResult } from '../../../src/alerts/check-due.js';

const answerOf = (values: readonly number[], isTruncated: boolean) => ({
  ...{ kind: 'rows' as const, columns: ['shop', 'count'], rows: values.map((value) => ({ shop: 'a', count: value })) },
  ...{ total: isTruncated ? 5000 : values.length, isTruncated, isCompared: false, mode: 'aggregate', hasMeans: false },
});

test.each([
  ['count < 5', [9, 8], false, 'ok'],
  ['count < 5', [9, 8], true, 'failed'],
  ['count < 5', [9, 3], true, 'firing'],
  ['all count > 5', [9, 8], false, 'firing'],
  ['all count > 5', [9, 8], true, 'failed'],
  ['all count > 5', [9, 3], true, 'ok'],
  ['no rows', [9], true, 'ok'],
])('%s of the rows %j, further ones: %s, is %s', (condition, values, isTruncated, outcome) => {
  const result = toResult(answerOf(values, isTruncated) as Parameters<typeof toResult>[0], condition);
  expect(result.outcome).toBe(outcome);
  if (outcome === 'failed') expect(result.error).toBe('the answer has more than 2 rows; narrow the query');
});

test('an answer that has lost the column of the condition is a failed check', () => {
  const answer = answerOf([9, 3], false) as Parameters<typeof toResult>[0];
  expect(toResult(answer, 'rate < 5')).toMatchObject({
    outcome: 'failed',
    error: 'the answer has no column "rate"; its columns are shop, count',
  });
  expect(toResult(answer, 'value < 5').outcome).toBe('failed');
  expect(toResult(answerOf([], false) as Parameters<typeof toResult>[0], 'rate < 5').outcome).toBe('ok');
});
