// The columns that the text formats show as percentages are those of the console and of reports.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { isShare } from '../../../src/query/shares.js';
import { CONTEXT } from './compiling.js';

test.each([
  'buy | count by _country | share',
  'buy | unique by day, _country | share',
  'user "u1" | count by event_type | share',
  'choice banner | count by variant_key | share',
  'choice banner | results buy',
  'choice banner | results sum(buy, price)',
  'funnel a -> b',
  'funnel a -> b | times',
  'funnel a -> b | times 1h',
  'funnel a -> b | by week | compare previous',
  'retention a by week | compare previous',
  'retention a | sum price',
  'sessions | compare previous',
  'formula count(a) / count(b) as share',
  'users | count by share',
])('%s', (text) => {
  const { mode, columns } = compile(text, CONTEXT);
  const hasMeans = text.includes('sum(buy');
  const ofText = columns.filter(({ name, type }) => type === 'rate' && !/^change(?:_|$)/.test(name));
  const ofScreen = columns.filter(({ name }) => isShare(mode, name.replace(/^previous_/, ''), hasMeans));
  expect(ofScreen.map(({ name }) => name)).toEqual(ofText.map(({ name }) => name));
});
