// Parsing of dashboard documents: valid ones, and every problem with its line, column, path and
// hint.
import { describe, expect, test } from 'vitest';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';

const CONTEXT = { projectId: toProjectId(PROJECT), nowMs: NOW_MS, timezone: 'UTC', key: 'sales' };

/** `line «what stands there» path: message; hint` of every problem; none for a document that is taken. */
function problemsOf(text: string): string[] {
  try {
    parseDashboard(text, CONTEXT);
    return [];
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    expect(error.kind).toBe('bad_request');
    return (error.details as DashboardProblem[]).map(({ path, message, line, column, hint }) => {
      const there = [...(text.split('\n')[line - 1] ?? '')].slice(column - 1, column + 7).join('');
      return `${line} «${there}» ${path}: ${message}; ${hint}`;
    });
  }
}

const CARD = '{id: a, title: A, kind: metric, viz: number, query: signup | count}';
const SMALLEST = `version: 1\ntitle: Sales\nsections:\n  - {title: S, cards: [${CARD}]}\n`;
const withCard = (lines: string) =>
  `version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - id: a\n    title: A\n${lines.replace(/^/gm, '    ')}\n`;
const withVariables = (lines: string, query = 'signup | count') =>
  `${withCard(`kind: metric\nviz: number\nquery: ${query}`)}variables:\n${lines.replace(/^/gm, '  ')}\n`;

describe('how it is written', () => {
  test.each<[string, string, string[]]>([
    ['the smallest document', SMALLEST, []],
    [
      'an anchor and an alias',
      `${SMALLEST}order: &n 1\n`.replace('title: S,', 'title: &t S,').replace('title: A', 'title: *t'),
      [],
    ],
    ['nothing', '# nothing\n', ['1 «# nothin» : the document is empty; it starts with: version: 1']],
    [
      'two documents',
      `${SMALLEST}---\na: 1\n`,
      ['5 «---» : a second document begins; a dashboard is one document; remove "---"'],
    ],
    [
      'another version of YAML',
      `%YAML 1.1\n---\n${SMALLEST}`,
      ['1 «%YAML 1.» : YAML 1.1 is declared; the document is YAML 1.2'],
    ],
    ['a list', '- a\n', ['1 «- a» : a list is not valid here; it is a map of keys and values']],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  test.each<[string, string, string[]]>([
    ['no YAML', 'title: "x\n', ['not YAML']],
    ['a tab', 'sections:\n\t- a\n', ['2 «', 'not YAML']],
    ['a duplicate key', `${SMALLEST}title: Again\n`, ['5 «title: A» title: the key "title" is used twice']],
    ['a tag', SMALLEST.replace('title: Sales', 'title: !!str Sales'), ['2 «Sales» title: the tag', 'remove it']],
    ['a key that is a list', `${SMALLEST}? [a]\n: 1\n`, ['not YAML', 'keys must be strings']],
    ['an alias of nothing', SMALLEST.replace('Sales', '*none'), ['2 «*none» title: nothing is anchored as "none"']],
    ['an alias of itself', SMALLEST.replace('Sales', '&me [*me]'), ['2 «*me]» title[0][0]: the alias contains itself']],
    ['a merge key', `${SMALLEST}<<: {order: 1}\n`, ['5 «<<: {ord» ["<<"]: unknown key "<<"']],
    ['a key like __proto__', `${SMALLEST}__proto__: 1\n`, ['5 «__proto_» __proto__: a key cannot be __proto__']],
    ['a NUL character', `${SMALLEST}# \0`, ['5 «\0» : the document has a NUL character']],
    ['a NUL character that is escaped', SMALLEST.replace('Sales', '"a\\0"'), ['2 «"a\\0"» title: the text has a NUL']],
    ['more words and signs than are read', 'a: b\n'.repeat(12_000), ['5715 «a: b', 'more than 40000 words and signs']],
    [
      'more mistakes than are shown',
      ']'.repeat(60_000),
      ['1 «]]]]]]]]»', 'more than 20 mistakes; what follows here was not read'],
    ],
    ['thousands of levels', '['.repeat(30_000), ['nested deeper than 32 levels']],
    ['thousands of levels in a block', '- '.repeat(30_000), ['nested deeper than 32 levels']],
    [
      'aliases that multiply',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefg'].map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[index]}`)}]`).join('\n')}`,
      ['more than 20000 values', 'repeat less'],
    ],
    [
      'aliases that multiply characters',
      `a: &a ${'x'.repeat(20_000)}\nb: &b [${Array(10).fill('*a')}]\nc: [*b, *b]`,
      ['more than 262144 characters', 'repeat less'],
    ],
    [
      'a query that its fragment makes too long',
      withVariables(
        `v:\n  type: select\n  options: [{value: a, fragment: '| where a = "${'x'.repeat(8000)}"'}]`,
        `signup | where b = "${'ü'.repeat(4500)}" {{v.fragment}}`,
      ),
      ['10 «signup', 'cards[0].query: with its fragments, the query is longer than 16384 bytes'],
    ],
  ])('%s is refused', (_, text, parts) => {
    const answered = problemsOf(text).join('\n');
    for (const part of parts) expect(answered).toContain(part);
  });
});

describe('structure', () => {
  test.each<[string, string, string[]]>([
    [
      'everything is missing',
      'order: 1\n',
      [
        '1 «order: 1» version: "version" is missing; it is 1',
        '1 «order: 1» title: "title" is missing; it is text',
        '1 «order: 1» sections: "sections" is missing; it is a list',
      ],
    ],
    [
      'several mistakes are answered at once, in the order of the text',
      withCard('kind: metrik\nvizz: number\nquery: signup | count')
        .replace('title: T', 'tilte: T')
        .replace('version: 1', 'version: 2'),
      [
        '1 «version:» title: "title" is missing; it is text',
        '1 «2» version: 2 is not valid here; it is 1',
        '2 «tilte: T» tilte: unknown key "tilte"; nearest is "title"',
        '6 «id: a» sections[0].cards[0].viz: "viz" is missing; it is one of number, line, area, bar, pie, table, event-stream, funnel, retention-grid, path, lifecycle, histogram, json, markdown',
        '8 «metrik» sections[0].cards[0].kind: "metrik" is not valid here; nearest is "metric"',
        '9 «vizz: nu» sections[0].cards[0].vizz: unknown key "vizz"; nearest is "viz"',
      ],
    ],
    [
      'text that is a number',
      SMALLEST.replace('Sales', '2024'),
      ['2 «2024» title: 2024 is not valid here; it is text: write "2024"'],
    ],
    ['no text at all', SMALLEST.replace('Sales', ''), ['2 «» title: null is not valid here; it is text']],
    [
      'an empty title',
      SMALLEST.replace('Sales', '""'),
      ['2 «""» title: "" is not valid here; it has at least 1 characters'],
    ],
    [
      'no section',
      'version: 1\ntitle: T\nsections: []',
      ['3 «[]» sections: a list is not valid here; it has at least 1 items'],
    ],
    [
      'an id that is not the key',
      `${SMALLEST}id: other`,
      ['5 «other» id: the id "other" is not the key "sales" of the address; write id: sales, or remove it'],
    ],
    ['an id that is the key', `${SMALLEST}id: sales`, []],
    [
      'an order that is no whole number',
      `${SMALLEST}order: 1.5`,
      ['5 «1.5» order: 1.5 is not valid here; it is a whole number'],
    ],
    ['a refresh of 10 s', `${SMALLEST}refresh: 10s`, []],
    [
      'a refresh of 9 s',
      `${SMALLEST}refresh: 9s`,
      ['5 «9s» refresh: "9s" is not valid here; it is a number and s, m or h, at least 10s'],
    ],
    [
      'an unknown time zone',
      `${SMALLEST}timezone: Mars`,
      ['5 «Mars» timezone: "Mars" is not valid here; it is an IANA name such as Europe/Berlin'],
    ],
    [
      'a card of 13 columns',
      withCard('kind: metric\nviz: number\nquery: signup\nlayout: {w: 13, h: 2}'),
      ['11 «13, h: 2» sections[0].cards[0].layout.w: 13 is not valid here; it has at most 12'],
    ],
    [
      'options of a card',
      withCard('kind: metric\nviz: number\nquery: signup\noptions: {goal: 5, stacked: true, colors: [red, blue]}'),
      [],
    ],
    [
      'two cards of one id',
      SMALLEST.replace(CARD, `${CARD}, ${CARD}`),
      ['4 «a, title» sections[0].cards[1].id: the id "a" is used twice; every card has its own'],
    ],
    [
      'a card without content',
      withCard('kind: metric\nviz: number'),
      ['6 «id: a» sections[0].cards[0]: the card has no content; it has one of query, queries and markdown'],
    ],
    [
      'a card of two contents',
      withCard('kind: metric\nviz: number\nquery: signup\nmarkdown: Hi'),
      ['6 «id: a» sections[0].cards[0]: the card has query and markdown; it has one of query, queries and markdown'],
    ],
    ['markdown', withCard('kind: markdown\nviz: markdown\nmarkdown: |\n  # Hi {{there}}'), []],
    [
      'markdown that is a metric',
      withCard('kind: metric\nviz: markdown\nmarkdown: Hi'),
      [
        '8 «metric» sections[0].cards[0].kind: the kind metric, the viz markdown and markdown do not go together; all three are markdown, or none of them is',
      ],
    ],
    [
      'several queries',
      withCard('kind: chart\nviz: line\nqueries:\n- {name: A, query: signup | count by day}\n- {name: A, query: pay}'),
      ['12 «A, query» sections[0].cards[0].queries[1].name: the name "A" is used twice; every query has its own'],
    ],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });
});

describe('variables', () => {
  test.each<[string, string, string[]]>([
    [
      'a name in upper case',
      withVariables('Plan: {type: input}'),
      [
        '12 «Plan: {t» variables.Plan: "Plan" is not a valid name; a name here has letters, digits and _ only, a letter first',
      ],
    ],
    [
      'an unknown type',
      withVariables('plan: {type: selekt}'),
      ['12 «selekt}» variables.plan.type: "selekt" is not valid here; nearest is "select"'],
    ],
    ['a name that every object has', withVariables('constructor: {type: input}', 'user {{constructor}}'), []],
    [
      'a select of nothing',
      withVariables('plan: {type: select}'),
      ['12 «{type: s» variables.plan: a select has neither options nor a query; it has one of the two'],
    ],
    [
      'a default that is no option',
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
      'a default that is no address',
      withVariables('who: {type: input, default: ann}'),
      [
        '12 «ann}» variables.who.default: "ann" is not an e-mail address; as in ann@example.com; *@example.com needs allow_domain: true',
      ],
    ],
    [
      'a range that is none',
      withVariables('range: {type: date_range, default: last five weeks}'),
      [
        '12 «last fiv» variables.range.default: "last five weeks" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    [
      'a range that is more than that',
      withVariables('range: {type: date_range, default: "last 7d | count"}'),
      [
        '12 «"last 7d» variables.range.default: "last 7d | count" is not a range; a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01',
      ],
    ],
    [
      'range as something else',
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

describe('queries', () => {
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
    ['a range behind a pipe', query('signup | {{ range }} | count by day'), []],
    [
      'an unknown variable',
      query('signup {{rnge.stage}}'),
      ['10 «{{rnge.s» sections[0].cards[0].query: unknown variable "rnge"; nearest is "range"'],
    ],
    [
      'a facet that a range has not',
      query('signup {{range.fragment}}'),
      [
        '10 «{{range.» sections[0].cards[0].query: "range" has no {{range.fragment}}; it has {{range}}, {{range.stage}}',
      ],
    ],
    [
      'a placeholder inside of quotes',
      query(`signup | where _path = "{{range}}"`),
      [
        '10 «"{{range» sections[0].cards[0].query: {{range}} is inside quotes; its value is quoted already: remove the quotes around it',
      ],
    ],
    [
      'what is not a placeholder',
      query('signup {{Range}}'),
      [
        '10 «{{Range}» sections[0].cards[0].query: "{{Range}}" is not a placeholder; a placeholder is {{name}}, {{name.stage}}, {{name.fragment}} or {{name.<fragment>_fragment}}, in lower case',
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

test('more cards than a dashboard has are refused at the first of them, before any query is compiled', () => {
  const cards = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => CARD.replace('id: a', `id: c${from + index}`)).join(', ');
  const ofCards = (count: number) =>
    `version: 1\ntitle: T\nsections:\n- title: S\n  cards: [${cards(0, 100)}]\n- title: S\n  cards: [${cards(100, count)}]\n`;
  expect(problemsOf(ofCards(200))).toEqual([]);
  expect(problemsOf(ofCards(201).replace('query: signup | count', 'query: "|"'))).toEqual([
    '7 «{id: c20» sections[1].cards[100]: the dashboard has 201 cards; the limit is 200; split it into several dashboards',
  ]);
});

test('queries that make too many combinations with options are refused before they hold up the process', () => {
  const options = Array.from({ length: 100 }, (_, index) => `{value: v${index}}`).join(', ');
  const cards = Array.from(
    { length: 100 },
    (_, index) => `  - {id: c${index}, title: A, kind: metric, viz: number, query: 'signup {{plan.fragment}}'}`,
  );
  const text = `version: 1\ntitle: T\nvariables:\n  plan: {type: select, options: [${options}]}\nsections:\n- title: S\n  cards:\n${cards.join('\n')}\n`;
  expect(problemsOf(text)).toEqual([
    '4 «plan: {t» variables: the queries have too many combinations with the options of their variables to be checked; remove options, or take the options of a select from a query',
  ]);
}, 30_000);

describe('the checksum', () => {
  const checksum = (text: string) => parseDashboard(text, CONTEXT).checksum;
  const rich = `version: 1 # one\ntitle: 'Sales'\n\nsections:\n  - cards: [${CARD.replace('id: a, title: A', 'title: A, id: a')}]\n    title: S\n`;

  test('is that of what is said', () => {
    expect(checksum(rich)).toBe(checksum(SMALLEST));
    expect(checksum(SMALLEST.replaceAll('\n', '\r\n'))).toBe(checksum(SMALLEST));
    // Stored and compared for as long as a dashboard lives: it must not drift.
    expect(checksum(SMALLEST)).toBe('1e068eb8fdc0a4d88510a18c1777ec38a1201a81264cffcd36fbba18e90b9486');
  });

  test.each([
    ['a title', SMALLEST.replace('Sales', 'Sale')],
    ['a query', SMALLEST.replace('| count', '|  count')],
    ['an explicit default', `${SMALLEST}order: 0\n`],
  ])('%s changes it', (_, text) => {
    expect(checksum(text)).not.toBe(checksum(SMALLEST));
  });
});
