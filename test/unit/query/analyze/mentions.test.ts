// Values that a query mentions: a filter of rows mentions them like a filter of events.
import { expect, test } from 'vitest';
import { compile } from '../../../../src/query/compile.js';
import { CONTEXT } from '../compiling.js';

const mentionedIn = (text: string) => compile(text, CONTEXT).mentions.values;

test.each([
  ['* | unique by _country | where unique_count > 20 and _country != "Germany"', '* | where _country != "Germany"'],
  ['* | count by event_type | where count > 2 and event_type = "signups"', '* | where event_type = "signups"'],
  [
    'a | count by event_properties.plan | where count > 0 and event_properties.plan not in ("pro", "team")',
    'a | where event_properties.plan not in ("pro", "team")',
  ],
  ['users | count by plan | where count > 1 and plan = "team"', 'users | where plan = "team"'],
])('%s mentions the values of %s', (ofRows, ofEvents) => {
  expect(mentionedIn(ofRows)).not.toEqual([]);
  expect(mentionedIn(ofRows)).toEqual(mentionedIn(ofEvents));
});

test.each(['signup | count by day | where day = 2026-11-15', 'a | count by _country | where count > 3'])(
  '%s mentions none',
  (text) => {
    expect(mentionedIn(text)).toEqual([]);
  },
);
