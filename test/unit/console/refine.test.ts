// What a click on a part of an answer asks: each result is a valid query with one part more, and
// keeps the rest of the text.
import { expect, test } from 'vitest';
import { check } from '../../../console/src/language/language.js';
import {
  filterableIn,
  sortedBy,
  withAnchor,
  withFilters,
  withPeople,
  withSort,
} from '../../../console/src/language/refine.js';

const valid = (q: string): void => expect(check(q, 'UTC')).toEqual([]);

test.each([
  ['* | count by _country', 'count', '* | count by _country | sort count desc'],
  ['* | count by _country | sort count desc', 'count', '* | count by _country | sort count asc'],
  ['* | count by _country | sort count asc', 'count', '* | count by _country | sort count desc'],
  ['* | count by _country | sort _country, count | top 5', 'count', '* | count by _country | sort count desc | top 5'],
  [
    '* | count by _country # all\n| limit 9\n',
    '_country',
    '* | count by _country # all\n| limit 9 | sort _country desc\n',
  ],
  ['users', 'last_seen', 'users | sort last_seen desc'],
  ['inspect *', 'users', 'inspect * | sort users desc'],
  [
    'click | count by event_properties."a b"',
    'event_properties."a b"',
    'click | count by event_properties."a b" | sort event_properties."a b" desc',
  ],
])('a click on a header of %s sorts by %s', (q, column, expected) => {
  expect(withSort(q, column)).toBe(expected);
  valid(expected);
  expect(sortedBy(expected)?.column).toBe(column);
});

test('what cannot be sorted stays as it is', () => {
  expect(withSort('funnel a -> b', 'users')).toBeUndefined();
  expect(withSort('* | count', 'nothing')).toBeUndefined();
  expect(sortedBy('* | count')).toBeUndefined();
});

test('a click on a series filters by all of its groups', () => {
  expect(
    withFilters('* | last 7d | count by day, _os, _country', [
      ['_os', 'a "b"'],
      ['_country', null],
    ]),
  ).toBe('* | last 7d | where _country not exists | where _os = "a \\"b\\"" | count by day, _os, _country');
  expect(withFilters('inspect *', [['_os', 'x']])).toBeUndefined();
});

test('the group of all further values has no filter, unless a value is called so', () => {
  const isFilterable = filterableIn('* | count by day, _os | top 5 other');
  expect([isFilterable([['_os', '(other)']]), isFilterable([['_os', 'iOS']]), isFilterable([])]).toEqual([
    ...[false, true, true],
  ]);
  expect(filterableIn('* | count by _os | top 5')([['_os', '(other)']])).toBe(true);
});

test.each([
  ['funnel a -> b | last 30d', 'people lost after 1', 'funnel a -> b | last 30d | people lost after 1'],
  ['retention a by week', 'people at 3', 'retention a by week | people at 3'],
  ['lifecycle * by week | last 8w', 'people dormant', 'lifecycle * by week | last 8w | people dormant'],
  ['funnel a -> b | by _country', 'people at 1', undefined],
  ['funnel a -> b | compare previous', 'people at 1', undefined],
])('of %s, %s are listed by %s', (q, stage, expected) => {
  expect(withPeople(q, stage)).toBe(expected);
  if (expected !== undefined) valid(expected);
});

test('paths begin with the event that is chosen', () => {
  expect(withAnchor('paths from signup | last 30d # why', 'odd: name')).toBe('paths from "odd: name" | last 30d # why');
  expect(withAnchor('signup | count', 'a')).toBeUndefined();
});
