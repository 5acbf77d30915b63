// Example questions of the screen Ask, about events of any name.
import { expect, test } from 'vitest';
import { startersFor } from '../../../console/src/ask/starters.js';

const about = (event: string, next?: string) =>
  startersFor(event, next).filter(({ words, q }) => /often is|go from/.test(words) || q.startsWith('paths'));

test('an event may be called as a placeholder is', () => {
  expect(about('NEXT_STEP', 'EVENT')).toEqual([
    { words: 'How often is NEXT_STEP done?', q: 'NEXT_STEP | last 30d | count by day' },
    { words: 'How many go from NEXT_STEP to EVENT?', q: 'funnel NEXT_STEP -> EVENT | last 30d | window 7d' },
    { words: 'What do people do after NEXT_STEP?', q: 'paths from NEXT_STEP | last 30d | window 1d' },
  ]);
});

test('a name with a dollar sign stays as it is', () => {
  expect(about('a$&b')[0]).toEqual({ words: 'How often is a$&b done?', q: '"a$&b" | last 30d | count by day' });
});
