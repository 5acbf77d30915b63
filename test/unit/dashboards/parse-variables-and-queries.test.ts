// Parsing of dashboard documents: variables and the queries of cards.
import { describe, expect, test } from 'vitest';
import { problemsOf, withCard, withVariables } from './documents.js';

describe('variables of a dashboard', () => {
  test.each<[string, string, string[]]>([
    [
      'a name with a sign',
      withVariables('pl-an: {type: input}'),
      [
        '12 «pl-an: {» variables.pl-an: "pl-an" is not a valid name; a name here has letters, digits and _ only, a letter first',
      ],
    ],
    [
      'a name that is too long',
      withVariables(`${'n'.repeat(64)}: {type: input}`),
      [
        `12 «nnnnnnnn» variables.${'n'.repeat(64)}: "${'n'.repeat(39)}…" is not a valid name; it has at most 63 characters`,
      ],
    ],
    [
      'an unknown type',
      withVariables('plan: {type: selekt}'),
      ['12 «selekt}» variables.plan.type: "selekt" is not valid here; nearest is "select"'],
    ],
    ['a name that every object has', withVariables('constructor: {type: input}', 'user {{constructor}}'), []],
    [
      'a select without options',
      withVariables('plan: {type: select}'),
      ['12 «{type: s» variables.plan: a select has neither options nor a query; it has one of the two, or both'],
    ],
    [
      'a default that is not an option',
      withVariables('plan: {type: select, default: por, options: [{value: pro}, {value: free}]}'),
      ['12 «por, opt» variables.plan.default: "por" is not one of the options; nearest is "pro"'],
    ],
    [
      'a value twice',
      withVariables('plan: {type: select, options: [{value: pro}, {value: pro}]}'),
      ['12 «pro}]}» variables.plan.options[1].value: the value "pro" is used twice; values differ'],
    ],
    [
      'an unknown key of a select',
      withVariables('plan: {type: select, optoins: 1, options: [{value: pro}]}'),
      ['12 «optoins:» variables.plan.optoins: unknown key "optoins"; nearest is "options"'],
    ],
    [
      'a fragment without a pipe',
      withVariables('plan: {type: select, options: [{value: pro, fragment: where plan = 1}]}'),
      [
        '12 «where pl» variables.plan.options[0].fragment: the fragment does not start with a pipe; a fragment is: | where plan = "pro"',
      ],
    ],
    [
      'a fragment with a comment',
      withVariables(`plan: {type: select, options: [{value: pro, fragment: "| count # all"}]}`),
      [
        '12 «"| count» variables.plan.options[0].fragment: the fragment has a comment; it would extend into the text after the fragment',
      ],
    ],
    [
      'a fragment with an open quote',
      withVariables(`plan: {type: select, options: [{value: pro, fragment: "| where a = 'x"}]}`),
      [
        '12 «"| where» variables.plan.options[0].fragment: the fragment has a quote that is not closed; it would extend into the text after the fragment',
      ],
    ],
    [
      'a fragment with another placeholder',
      withVariables('plan: {type: select, options: [{value: p, fragment: "| where a = {{b}}"}]}'),
      [
        '12 «{{b}}"}]» variables.plan.options[0].fragment: {{b}} is not known in a fragment; only {{value}} is: the chosen value, quoted',
      ],
    ],
    [
      'a query of options',
      withVariables(
        "path: {type: select, query: '* | count by _path', value_column: _path, fragment_template: '| where _path = {{value}}'}",
        'signup {{path.fragment}} | count',
      ),
      [],
    ],
    [
      'a column that the query has not',
      withVariables("path: {type: select, query: '* | count by _path', value_column: path}"),
      ['12 «path}» variables.path.value_column: the query has no column "path"; nearest is "_path"'],
    ],
    [
      'a query of options that does not compile',
      withVariables("path: {type: select, query: '* | count by _pth', value_column: _pth}"),
      [`12 «_pth', v» variables.path.query: unknown field "_pth"; nearest is "_path"`],
    ],
    [
      'an input of domains without a fragment for them',
      withVariables(
        "who: {type: input, allow_domain: true, fragments: {event: {email: '| where user.email = {{value}}'}}}",
      ),
      [
        '12 «{email: » variables.who.fragments.event.domain: "domain" is missing; it is the fragment for *@example.com, where {{value}} is example.com',
      ],
    ],
    [
      'a default that is not an address',
      withVariables('who: {type: input, default: ann}'),
      [
        '12 «ann}» variables.who.default: "ann" is not an e-mail address; as in ann@example.com; *@example.com needs allow_domain: true',
      ],
    ],
    [
      'an invalid range',
      withVariables('range: {type: date_range, default: last five weeks}'),
      [
        '12 «last fiv» variables.range.default: "last five weeks" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    ...['2026-11-01', '2099-12-31'].map((date): [string, string, string[]] => [
      `a range since ${date}`,
      withVariables(`range: {type: date_range, default: since ${date}, options: [{value: since ${date}}]}`),
      [],
    ]),
    [
      'an empty option that would never be chosen',
      withVariables('plan: {type: select, options: [{value: pro}, {value: "", label: All}]}'),
      [
        '12 «"", labe» variables.plan.options[1].value: an empty value can only be the default; write another value, put it first, or write default: ""',
      ],
    ],
    [
      'an empty option before another default',
      withVariables('plan: {type: select, default: pro, options: [{value: ""}, {value: pro}]}'),
      [
        '12 «""}, {va» variables.plan.options[0].value: an empty value can only be the default; write another value, put it first, or write default: ""',
      ],
    ],
    [
      'an empty option that is the first, or the default',
      withVariables(
        'plan: {type: select, options: [{value: ""}, {value: pro}]}\ntier: {type: select, default: "", options: [{value: pro}, {value: ""}]}',
      ),
      [],
    ],
    [
      'an empty default of values from data',
      withVariables(
        'city: {type: select, default: "", query: "* | count by _city", fragment_template: "| where _city = {{value}}"}',
        `'signup {{city.fragment}} | where _region != {{city}} | count'`,
      ),
      [],
    ],
    [
      'a range that is more than that',
      withVariables('range: {type: date_range, default: "last 7d | count"}'),
      [
        '12 «"last 7d» variables.range.default: "last 7d | count" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    [
      'a variable named range of another type',
      withVariables('range: {type: input}'),
      [
        '12 «input}» variables.range.type: the variable "range" has the type input; it is the date_range of every dashboard; choose another name',
      ],
    ],
    [
      'a wrong variable is not blamed on the queries that name it',
      withVariables('plan: {type: selekt}', 'signup {{plan.fragment}}'),
      ['12 «selekt}» variables.plan.type: "selekt" is not valid here; nearest is "select"'],
    ],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });
});

describe('queries of a dashboard', () => {
  const query = (spelling: string) => withCard(`kind: metric\nviz: number\nquery: ${spelling}`);
  const PLAN = `plan: {type: select, options: [{value: all}, {value: pro, fragment: '| where user.plan = {{value}} | cuont'}]}`;
  test.each<[string, string, string[]]>([
    [
      'a plain scalar',
      query('signup | count by _contry'),
      ['10 «_contry» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'single quotes',
      query(`'signup | where _path = ''/'' | count by _contry'`),
      [`10 «_contry'» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"`],
    ],
    [
      'double quotes',
      query(`"signup\\n| where _path = \\"/\\" |\\x20count by _contry"`),
      ['10 «_contry"» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'a plain scalar of two lines',
      query('signup\n  | count by _contry'),
      ['11 «_contry» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'a literal block',
      query('|\n  signup\n  | count by _contry'),
      ['12 «_contry» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'a folded block',
      query('>-\n  signup\n\n  | count\n  by _contry'),
      ['14 «_contry» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"'],
    ],
    [
      'two mistakes',
      query('signup | count by _contry, _pth'),
      [
        '10 «_contry,» sections[0].cards[0].query: unknown field "_contry"; nearest is "_country"',
        '10 «_pth» sections[0].cards[0].query: unknown field "_pth"; nearest is "_path"',
      ],
    ],
    ['a range where it fits', query('signup {{range.stage}} | count'), []],
    ['a range after a pipe', query('signup | {{ range }} | count by day'), []],
    [
      'an unknown variable',
      query('signup {{rnge.stage}}'),
      ['10 «{{rnge.s» sections[0].cards[0].query: unknown variable "rnge"; nearest is "range"'],
    ],
    [
      'a facet that a range has not',
      query('signup {{range.start}}'),
      [
        '10 «{{range.» sections[0].cards[0].query: "range" has no {{range.start}}; it has {{range}}, {{range.stage}}, {{range.fragment}}',
      ],
    ],
    [
      'a placeholder inside of quotes',
      query(`signup | where _path = "{{range}}"`),
      [
        '10 «"{{range» sections[0].cards[0].query: {{range}} is inside quotes; a text has one plain value of a select or an input: remove the quotes around it',
      ],
    ],
    [
      'braces that are not a placeholder',
      query('signup {{the range}}'),
      [
        '10 «{{the ra» sections[0].cards[0].query: "{{the range}}" is not a placeholder; a placeholder is {{name}}, {{name.stage}}, {{name.fragment}} or {{name.<fragment>_fragment}}',
      ],
    ],
    [
      'a mistake after a placeholder',
      query('signup {{range.stage}} | cuont'),
      ['10 «cuont» sections[0].cards[0].query: unknown stage "cuont"; nearest is "count"'],
    ],
    [
      'a mistake in a fragment is shown in the fragment, though it is not the default',
      withVariables(PLAN, 'signup {{plan.fragment}}'),
      [`12 «cuont'}]» variables.plan.options[1].fragment: unknown stage "cuont"; nearest is "count"`],
    ],
    ['an input that waits for the viewer', withVariables('who: {type: input}', 'user {{who}} | list'), []],
    [
      'the fragments of an input, which are empty by default',
      withVariables(
        "who:\n  type: input\n  allow_domain: true\n  fragments:\n    event: {email: '| where user.email = {{value}}', domain: '| wher user.email_domain = {{value}}'}",
        'signup {{who.event_fragment}}',
      ),
      ['16 «wher use» variables.who.fragments.event.domain: unknown stage "wher"; nearest is "where"'],
    ],
    [
      'the plain value of an input that may be a domain',
      withVariables('who: {type: input, allow_domain: true}', 'user {{who}}'),
      ['10 «{{who}}» sections[0].cards[0].query: "who" has no {{who}}; it has no fragments yet'],
    ],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });
});
