// Filling of the placeholders of a dashboard query. Most important: a viewer's text changes only
// its own literal in a query.
import type { Tree } from '@lezer/common';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parser } from '../../../grammar/parser.js';
import { type DashboardConfig, variableSchema } from '../../../src/dashboards/config-schema.js';
import { fillCard, fillTemplate, variablesOf } from '../../../src/dashboards/fill-template.js';
import { PublicError } from '../../../src/platform/errors.js';
import { quoteText, unquote } from '../../../src/query/parse/strings.js';
import { anyText } from '../../support/any-text.js';

const DECLARED = Object.fromEntries(
  Object.entries({
    plan: {
      type: 'select',
      options: [
        { value: 'all' },
        { value: 'pro', fragment: '| where user.plan = "pro"' },
        { value: 'pro "plus"', fragment: '| where user.plan = {{value}}' },
      ],
    },
    path: {
      type: 'select',
      query: '* | count by _path',
      value_column: '_path',
      fragment_template: '| where _path = {{value}} | where _path != "{}"',
    },
    city: { type: 'select', default: '', query: '* | count by _city', fragment_template: '| where _city = {{value}}' },
    page: { type: 'select', default: '/', query: '* | count by _path', value_column: '_path' },
    who: { type: 'input' },
    customer: {
      type: 'input',
      allow_domain: true,
      fragments: {
        event: { email: '| where user.email = {{value}}', domain: '| where user.email_domain = {{value}}' },
        profile: { email: '| where email = {{value}}', domain: '| where email_domain = {{value}}' },
      },
    },
    period: { type: 'date_range', default: 'this month' },
    country: {
      type: 'select',
      options: [{ value: 'all' }],
      query: '* | count by _country',
      fragment_template: `| where _country = "{{value}}" or _city ~ '^{{value}}\\d'`,
    },
    subject: {
      type: 'input',
      allow_domain_wildcard: true,
      fragments: { event: { exact_field: 'user.email', domain_field: 'user.email_domain' } },
    },
  }).map(([name, variable]) => [name, variableSchema.parse(variable)]),
);
const variables = variablesOf(DECLARED);

const fill = (template: string, values: Record<string, string> = {}): string =>
  fillTemplate(template, [], { variables, values: new Map(Object.entries(values)) }).text;

describe('fillTemplate() replaces a placeholder by', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['the range of every dashboard', 'a {{range.stage}} | count', {}, 'a | last 7d | count'],
    ['the range without its pipe', 'a | {{range}} | count', {}, 'a | last 7d | count'],
    ['a default', 'a {{period.stage}}', {}, 'a | this month'],
    ['a chosen range', 'a {{range.stage}}', { range: ' last  30d' }, 'a | last 30d'],
    [
      'a range between dates, in the form of the language',
      'a {{range.stage}}',
      { range: "from 2026-01-01 to '2026-02-01'" },
      'a | from "2026-01-01" to "2026-02-01"',
    ],
    ['a range without its comment', 'a {{range.stage}} | count', { range: 'today # really' }, 'a | today | count'],
    ['the first option', 'a {{plan.fragment}} | count', {}, 'a  | count'],
    ['the text of an option', 'a {{plan.fragment}} | count', { plan: 'pro' }, 'a | where user.plan = "pro" | count'],
    [
      'a value in the text of an option',
      'a {{plan.fragment}}',
      { plan: 'pro "plus"' },
      'a | where user.plan = "pro \\"plus\\""',
    ],
    [
      'the value of an option, quoted',
      'a | where b = {{plan}}',
      { plan: 'pro "plus"' },
      'a | where b = "pro \\"plus\\""',
    ],
    ['a value from data, quoted', 'a | where b = {{page}}', { page: '/"\\\n' }, 'a | where b = "/\\"\\\\\\n"'],
    ['a default value', 'a | where b = {{page}}', {}, 'a | where b = "/"'],
    ['an empty text when no option is chosen', 'a {{path.fragment}}', {}, 'a '],
    ['an empty text when the default is empty and no option', 'a {{city.fragment}}', {}, 'a '],
    [
      'the fragment of a value from data',
      'a {{path.fragment}}',
      { path: '/x' },
      'a | where _path = "/x" | where _path != "{}"',
    ],
    ['an address', 'user {{who}}', { who: 'ann@example.com' }, 'user "ann@example.com"'],
    ['an empty text when no address is given', 'a {{customer.event_fragment}}', { customer: '' }, 'a '],
    [
      'the fragment of an address',
      'a {{customer.event_fragment}}',
      { customer: 'ann@example.com' },
      'a | where user.email = "ann@example.com"',
    ],
    [
      'the fragment of a domain',
      'users {{customer.profile_fragment}}',
      { customer: '*@example.com' },
      'users | where email_domain = "example.com"',
    ],
    [
      'a quoted key',
      'a | count by event_properties.{{page}}',
      { page: 'Button Name' },
      'a | count by event_properties."Button Name"',
    ],
    ['a value inside quotes', 'a | where b ~ "^{{page}}"', { page: '/"\\' }, 'a | where b ~ "^/\\"\\\\"'],
    ['a value after a backslash', 'a | where b = "\\{{page}}"', { page: '"' }, 'a | where b = "\\\\\\""'],
    ['a value inside single quotes', "a | where b = '{{page}}'", { page: "'" }, `a | where b = "'"`],
    ['a range after last', 'a | last {{period}} | count', {}, 'a | this month | count'],
    ['a duration after last', 'a | last  {{range}}', { range: '90d' }, 'a | last 90d'],
    ['itself in a comment', 'a # {{plan}} "\n| count', {}, 'a # {{plan}} "\n| count'],
    ['itself when it is not a valid placeholder', "a | where b = '{{ }} {{A}}'", {}, "a | where b = '{{ }} {{A}}'"],
  ])('%s', (_, template, values, expected) => {
    expect(fill(template, values)).toBe(expected);
  });

  test.each<[string, string, Record<string, string>]>([
    ['an unknown option', '{{plan.fragment}}', { plan: 'free' }],
    ['an invalid range', '{{range.stage}}', { range: 'last five weeks' }],
    ['a range of more than one stage', '{{range.stage}}', { range: 'last 7d | list' }],
    ['a range of an endless number', '{{range.stage}}', { range: `last ${'9'.repeat(30)}d` }],
    ['a stage that is not a range', '{{range.stage}}', { range: 'count' }],
    ['a text that is not an address', 'user {{who}}', { who: 'ann' }],
    ['a domain where only addresses are allowed', 'user {{who}}', { who: '*@example.com' }],
    ['no value where one is needed', 'user {{who}}', {}],
    ['an empty default where a value is needed', '* | where _city = {{city}}', {}],
  ])('fillTemplate() refuses %s', (_, template, values) => {
    expect(() => fill(template, values)).toThrow(PublicError);
  });
});

test('all queries of a card are filled', () => {
  const card = { id: 'a', title: 'A', kind: 'chart', viz: 'line' } as const;
  const config: DashboardConfig = { version: 1, title: 'T', sections: [] };
  const values = new Map([['range', 'today']]);
  const queries = [
    { name: 'A', query: 'a {{range.stage}}' },
    { name: 'B', query: 'b' },
  ];
  expect(fillCard(config, { ...card, query: 'a {{range.stage}}' }, values)).toMatchObject([
    { name: undefined, text: 'a | today' },
  ]);
  expect(fillCard(config, { ...card, queries }, values)).toMatchObject([
    { name: 'A', text: 'a | today' },
    { name: 'B', text: 'b' },
  ]);
});

describe('hostile values of a viewer', () => {
  /** Node names and nesting of a query, without its texts. */
  const shapeOf = (tree: Tree): string => tree.toString();

  // Whole texts, and texts made of what could end a literal or begin something else.
  const hostile = fc.oneof(
    anyText(40),
    fc
      .array(
        fc.constantFrom(
          '"',
          "'",
          '\\',
          '\n',
          '\r',
          '|',
          '#',
          '{{',
          '}}',
          '{{plan}}',
          'or',
          ' ',
          'u0022',
          '\u2028',
          'a@b.c',
          '*@',
          '->',
          '\ud800',
        ),
        { maxLength: 12 },
      )
      .map((pieces) => pieces.join('')),
  );

  test.each([
    ['page', 'a | where b = {{page}} | count'],
    ['page', 'a | where b in ({{page}}, "x") and c = "}}" | count # {{page}}'],
    ['page', 'a | count by event_properties.{{page}}'],
    ['path', 'a {{path.fragment}} | count'],
    ['plan', 'a {{plan.fragment}} | where b = {{plan}}'],
    ['who', 'user {{who}} | list'],
    ['customer', 'a {{customer.event_fragment}} | count'],
    ['range', 'a {{range.stage}} | count'],
    ['range', 'a | {{range}} | count'],
    ['range', 'a | last {{range}} | count'],
    ['page', `a | where b ~ "^\\{{page}}$" and c = '\\{{page}}' | count`],
    ['country', 'a {{country.fragment}} | count'],
    ['subject', 'a {{subject.event_fragment}} | count'],
  ])(
    'as %s do not change the structure of %s',
    (name, template) => {
      const known = [
        'pro',
        'ann@example.com',
        'Ann@example.com',
        '*@example.com',
        'last 5d',
        'from 2026-01-01 to 2026-02-01',
        'today',
        'this week',
        '',
      ];
      const shapes = new Set(known.flatMap((value) => shapeAs(name, template, value)));
      fc.assert(
        fc.property(hostile, (value) => {
          for (const shape of shapeAs(name, template, value)) expect(shapes).toContain(shape);
        }),
        { numRuns: 300 },
      );
    },
    30_000,
  );

  function shapeAs(name: string, template: string, value: string): string[] {
    try {
      return [shapeOf(parser.parse(fill(template, { [name]: value })))];
    } catch (error) {
      if (error instanceof PublicError) return [];
      throw error;
    }
  }

  test('are unchanged in the literal', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const literal = quoteText(text);
        expect(unquote(literal)).toBe(text);
        expect(literal).toMatch(/^"[^\n\r]*"$/);
        expect(shapeOf(parser.parse(`user ${literal}`))).toBe('Query(UserSource(Keyword,String))');
      }),
    );
  });
});
