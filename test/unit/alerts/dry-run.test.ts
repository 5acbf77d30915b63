// Problems of the body of a dry run: those of its query are the problems of the query itself.
import { expect, test } from 'vitest';
import { dryRunTask } from '../../../src/alerts/schema.js';
import { CONTEXT, detailsOf } from '../query/compiling.js';

const { projectId, nowMs, timezone } = CONTEXT;
const check = async (query: string, when = 'value < 1') =>
  dryRunTask.run({ alert: { query, when }, context: { projectId, nowMs, timezone } });

test('a wrong query has the places and fixes of its answer', async () => {
  const query = 'buy |\n  group by contry';
  expect(await check(query)).toEqual({
    sentences: [expect.stringMatching(/^query: .*"group" at line 2, column 3;/)],
    details: detailsOf(query),
  });
  expect(detailsOf(query)[0]?.fix).toBeDefined();
});

test('a wrong condition is named beside a wrong query', async () => {
  expect(await check('buy | cuont', 'value')).toEqual({
    sentences: [
      'query: unknown stage "cuont" at line 1, column 7; nearest is "count"',
      expect.stringContaining('when: the condition has no comparison'),
    ],
    details: [expect.objectContaining({ line: 1, column: 7, fix: expect.objectContaining({ text: 'count' }) })],
  });
});

test.each([
  ['buy | people', 'query: an alert cannot list people; count them: | unique'],
  ['buy {{range.stage}}', 'query: the query of an alert has no placeholders, because it has no viewer'],
])('%s is wrong in an alert only', async (query, sentence) => {
  expect(await check(query)).toEqual({ sentences: [expect.stringContaining(sentence)], details: [] });
});

test('what could be saved has no problems', async () => {
  expect(await check('buy | count')).toEqual({ sentences: [], details: [] });
});
