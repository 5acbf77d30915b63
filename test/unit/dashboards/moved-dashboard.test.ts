// Other spellings of dashboards: a whole document is accepted unchanged, its placeholders are
// filled with quoted values, and forms keep what they do not show.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { changeCard } from '../../../src/dashboards/edit-card.js';
import { changeVariable } from '../../../src/dashboards/edit-structure.js';
import { fillCards } from '../../../src/dashboards/fill-cards.js';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import { expandRange } from '../../../src/dashboards/variable-forms.js';
import { MOVED_DASHBOARD } from '../../support/moved-dashboard.js';
import { CONTEXT, differenceOf, problemsOf, withVariables } from './documents.js';

const { config } = parseDashboard(MOVED_DASHBOARD, { ...CONTEXT, key: 'moved' });

/** The query of a card with these values, or why there is none. */
function filled(id: string, values: Record<string, string> = {}): string | undefined {
  const card = fillCards(config, new Map(Object.entries(values)), 'UTC').find((each) => each.id === id);
  return card !== undefined && 'error' in card ? card.error : card?.queries[0]?.q;
}

test('the configuration is the document, without changes', () => {
  expect(config).toEqual(parse(MOVED_DASHBOARD));
});

describe('queries of the document', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['a default as a duration', 'events.total', {}, '* | last 30d  | count'],
    ['a duration', 'events.total', { range: '7d' }, '* | last 7d  | count'],
    ['a range of the language after last', 'events.total', { range: 'this month' }, '* | this month  | count'],
    ['an underscore in a range', 'activation', { range: 'this_year' }, 'funnel page_view -> purchase | this year'],
    [
      'two dates',
      'schema.inspect',
      { range: 'custom:2026-01-01..2026-02-01' },
      'inspect * | from "2026-01-01" to "2026-02-01"',
    ],
    ['the fragment of a range', 'events:by-day', {}, '* | last 30d | count by day'],
    ['an own option', 'events.total', { planName: 'all' }, '* | last 30d  | count'],
    [
      'an option of the query, in quotes',
      'events.total',
      { planName: 'pro' },
      '* | last 30d | where event_properties.plan = "pro" | count',
    ],
    [
      'a hostile option',
      'events.total',
      { planName: 'a" | list # \\' },
      '* | last 30d | where event_properties.plan = "a\\" | list # \\\\" | count',
    ],
    ['no address', 'customer:events', {}, 'the variable "subject" has no value'],
    [
      'an address',
      'customer:events',
      { subject: 'ann@example.com' },
      '* | where user.email = "ann@example.com" | last 30d | count',
    ],
    [
      'an address in upper case',
      'customer:profile',
      { subject: ' Ann@Example.com' },
      'users | where email in ("Ann@Example.com", "ann@example.com") | list',
    ],
    [
      'a domain',
      'customer:events',
      { subject: '*@Example.com' },
      '* | where user.email_domain = "example.com" | last 30d | count',
    ],
    [
      'a hostile address',
      'customer:profile',
      { subject: 'a"|b@example.com' },
      'users | where email = "a\\"|b@example.com" | list',
    ],
    [
      'a text that is no address',
      'customer:profile',
      { subject: '" or email exists' },
      'the variable "subject" is an e-mail address: ann@example.com, or *@example.com',
    ],
  ])('%s', (_, id, values, expected) => {
    expect(filled(id, values)).toBe(expected);
  });
});

test.each([
  ['30d', 'last 30d'],
  [' last_month ', 'last month'],
  ['custom:2026-01-01..2026-02-01', 'from 2026-01-01 to 2026-02-01'],
  ['last 7d', 'last 7d'],
  ['custom', 'custom'],
])('expandRange(%j) is %j', (short, long) => {
  expect(expandRange(short)).toBe(long);
});

describe('problems of other spellings', () => {
  test.each<[string, string, string[]]>([
    [
      'an option of a range that is none',
      withVariables('range: {type: date_range, options: [{value: 7d}, {value: week}, {value: custom}]}'),
      [
        '12 «week}, {» variables.range.options[1].value: "week" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    [
      'a default that needs two dates',
      withVariables('range: {type: select, default: custom, options: [{value: 7d}]}'),
      [
        '12 «custom, » variables.range.default: "custom" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    [
      'a choice after last that is no range',
      withVariables('plan: {type: select, options: [{value: 7d}, {value: pro}]}', 'signup | last {{plan}} | count'),
      [
        '10 «last {{p» sections[0].cards[0].query: "plan" is not a range; after last stands one, or a select whose options are ranges',
      ],
    ],
    [
      'a choice of durations after last',
      withVariables('period: {type: select, options: [{value: 7d}, {value: 90d}]}', 'signup | last {{period}} | count'),
      [],
    ],
    [
      'a range with fragments',
      withVariables(
        "range: {type: select, options: [{value: short, fragment: '| last 7d'}, {value: all, fragment: ''}]}",
        'signup {{range.fragment}} | count',
      ),
      [],
    ],
    [
      'an input without a form for addresses',
      withVariables('who: {type: input, fragments: {event: {domain_field: user.email_domain}}}'),
      [
        '12 «{domain_» variables.who.fragments.event.email: "email" is missing; it is the fragment for an address; or exact_field: user.email',
      ],
    ],
    [
      'both forms for addresses',
      withVariables("who: {type: input, fragments: {event: {email: '| list', exact_field: user.email}}}"),
      [
        '12 «user.ema» variables.who.fragments.event.exact_field: exact_field goes without email; it is a field, email is a whole fragment',
      ],
    ],
    [
      'a field that is more than that',
      withVariables("who: {type: input, fragments: {event: {exact_field: 'user.email = 1 or x'}}}"),
      [
        `12 «'user.em» variables.who.fragments.event.exact_field: "user.email = 1 or x" is not valid here; it is the name of a field, as in user.email`,
      ],
    ],
    [
      'a field that is not known',
      withVariables(
        'who: {type: input, fragments: {event: {exact_field: _contry}}}',
        'signup {{who.event_fragment}} | count',
      ),
      ['12 «_contry}» variables.who.fragments.event.exact_field: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'both names of allow_domain',
      withVariables('who: {type: input, allow_domain: true, allow_domain_wildcard: false}'),
      [
        '12 «false}» variables.who.allow_domain_wildcard: allow_domain_wildcard is another name of allow_domain; write one of the two',
      ],
    ],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });
});

describe('forms keep what they do not show', () => {
  const variableOf = (name: string) => config.variables?.[name] ?? null;

  test.each(Object.keys(config.variables ?? {}))('of the variable %s', (name) => {
    expect(changeVariable(MOVED_DASHBOARD, { name, variable: variableOf(name) })).toBe(MOVED_DASHBOARD);
    const changed = changeVariable(MOVED_DASHBOARD, {
      name,
      variable: { ...variableOf(name), label: 'Renamed' } as NonNullable<ReturnType<typeof variableOf>>,
    });
    expect(differenceOf(MOVED_DASHBOARD, changed).added).toEqual(['    label: Renamed']);
  });

  test('of a card with signs in its id', () => {
    const card = { id: 'events:by-day', title: 'By day', kind: 'chart', viz: 'line' } as const;
    expect(differenceOf(MOVED_DASHBOARD, changeCard(MOVED_DASHBOARD, card))).toEqual({
      added: ['        title: By day'],
      removed: ['        title: Events by day'],
    });
  });
});
