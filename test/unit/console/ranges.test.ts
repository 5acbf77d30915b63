// The field for the range of a dashboard, and its choice of two dates.
import { expect, test } from 'vitest';
import { fieldsOf, hasOwnRange } from '../../../console/src/dashboards/ranges.js';
import { fromDays, toDays } from '../../../console/src/language/days.js';

const sectionOf = (query: string) => ({
  title: 'Numbers',
  cards: [{ id: 'one', title: 'One', kind: 'chart', viz: 'line', query }],
});

test('a dashboard has a field for its range when a card uses it, or the document declares it', () => {
  const used = [sectionOf('purchase | last 30d | count'), sectionOf('purchase {{ range.stage }} | count')];
  const unused = [sectionOf('purchase | last 30d | count {{ranges.stage}}')];
  const plan = { type: 'select', options: [{ value: 'pro' }] } as const;
  expect(Object.keys(fieldsOf({ sections: used, variables: { plan } }))).toEqual(['range', 'plan']);
  expect(Object.keys(fieldsOf({ sections: unused, variables: { plan } }))).toEqual(['plan']);
  expect(fieldsOf({ sections: unused })).toEqual({});
  const range = { type: 'date_range', default: '30d' } as const;
  expect(fieldsOf({ sections: unused, variables: { range } })).toEqual({ range });
});

test('a card has a range of its own when the field of the dashboard does not change it', () => {
  const [follows, own] = [sectionOf('purchase {{ range.stage }}'), sectionOf('purchase | last 90d')];
  const fields = fieldsOf({ sections: [follows, own] });
  expect([hasOwnRange(follows.cards, fields), hasOwnRange(own.cards, fields)]).toEqual([false, true]);
  expect(hasOwnRange(own.cards, fieldsOf({ sections: [own] }))).toBe(false);
});

test('the last day that is chosen belongs to the range, whose end is excluded', () => {
  expect(fromDays('2026-11-01', '2026-11-30')).toBe('from 2026-11-01 to 2026-12-01');
  expect(fromDays('2026-11-05', '2026-11-05')).toBe('from 2026-11-05 to 2026-11-06');
  expect(fromDays('2026-11-30', '2026-11-01')).toBe('from 2026-11-01 to 2026-12-01');
  expect(toDays('from 2026-11-01 to "2026-12-01"')).toEqual({ from: '2026-11-01', last: '2026-11-30' });
  expect([toDays('last 7d'), toDays('from 2026-13-01 to 2026-12-01'), toDays('')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
