// Parsing of dashboard documents: YAML, structure and checksum. Every problem has its line, column,
// path and hint.
import { describe, expect, test } from 'vitest';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import { CARD, CONTEXT, problemsOf, SMALLEST, withCard, withVariables } from './documents.js';

describe('YAML of a dashboard', () => {
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
      ['5 «---» : a second document begins; this is one document; remove "---"'],
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
    [
      'an alias without an anchor',
      SMALLEST.replace('Sales', '*none'),
      ['2 «*none» title: nothing is anchored as "none"'],
    ],
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

describe('structure of a dashboard', () => {
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
      ['2 «""» title: "" is not valid here; it has at least 1 character'],
    ],
    [
      'no section',
      'version: 1\ntitle: T\nsections: []',
      ['3 «[]» sections: the list is empty; it has at least 1 item'],
    ],
    [
      'more cards than a section may have',
      `version: 1\ntitle: T\nsections:\n- title: S\n  cards: [${'x, '.repeat(101)}]`,
      expect.arrayContaining([
        expect.stringContaining('sections[0].cards: 101 items are too many; it has at most 100 items'),
      ]),
    ],
    [
      'an id that is not the key',
      `${SMALLEST}id: other`,
      ['5 «other» id: the id "other" is not the key "sales" of the address; write id: sales, or remove it'],
    ],
    ['an id that is the key', `${SMALLEST}id: sales`, []],
    [
      'an order that is not a whole number',
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
      ['11 «13, h: 2» sections[0].cards[0].layout.w: 13 is not valid here; it is at most 12'],
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

describe('checksum of a dashboard', () => {
  const checksum = (text: string) => parseDashboard(text, CONTEXT).checksum;
  const rich = `version: 1 # one\ntitle: 'Sales'\n\nsections:\n  - cards: [${CARD.replace('id: a, title: A', 'title: A, id: a')}]\n    title: S\n`;

  test('does not depend on formatting', () => {
    expect(checksum(rich)).toBe(checksum(SMALLEST));
    expect(checksum(SMALLEST.replaceAll('\n', '\r\n'))).toBe(checksum(SMALLEST));
    // Stored with a dashboard and compared later, so the value must never change.
    expect(checksum(SMALLEST)).toBe('1e068eb8fdc0a4d88510a18c1777ec38a1201a81264cffcd36fbba18e90b9486');
  });

  test.each([
    ['a title', SMALLEST.replace('Sales', 'Sale')],
    ['a query', SMALLEST.replace('| count', '|  count')],
    ['an explicit default', `${SMALLEST}order: 0\n`],
  ])('changes with %s', (_, text) => {
    expect(checksum(text)).not.toBe(checksum(SMALLEST));
  });
});
