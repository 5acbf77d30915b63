// Cards that are changed in the text of a dashboard: each field replaces its own span, whatever the
// text looks like around it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type CardChange, changeCard, removeCard } from '../../../src/dashboards/edit-card.js';
import { differenceOf } from './documents.js';

const SOURCE = `# Owned by the growth team.
version: 1
title:   Sales   # shown in the list
sections:
  - title: Numbers
    cards:
      # The most important one.
      - id: orders
        title: Orders # of all shops
        kind: metric
        viz: number
        query: >-
          purchase
          | last 30d | count
        options: {unit: "€"}

      - {id: visits, title: 'Visits', kind: chart, viz: line, query: 'page_view {{range.stage}} | count by day'} # flow
      - id: notes
        title: "Notes"
        kind: markdown
        viz: markdown
        markdown: |
          # About
            indented
  - title: Empty
    cards: []
`;

const base = (id: string): CardChange => {
  const cards = parse(SOURCE).sections.flatMap((section: { cards: { id: string }[] }) => section.cards);
  const { title, kind, viz } = cards.find((card: { id: string }) => card.id === id);
  return { id, title, kind, viz };
};

const difference = (changed: string) => differenceOf(SOURCE, changed);

describe('a change of a card', () => {
  test('of nothing leaves the text as it is', () => {
    for (const id of ['orders', 'visits', 'notes']) expect(changeCard(SOURCE, base(id))).toBe(SOURCE);
  });

  test('replaces a plain text and keeps the comment behind it', () => {
    expect(difference(changeCard(SOURCE, { ...base('orders'), title: 'Orders: "all" # of them' }))).toEqual({
      added: ['        title: "Orders: \\"all\\" # of them" # of all shops'],
      removed: ['        title: Orders # of all shops'],
    });
  });

  test('replaces a folded query by one line, and by several', () => {
    expect(difference(changeCard(SOURCE, { ...base('orders'), query: 'signup | count' }))).toEqual({
      added: ['        query: signup | count'],
      removed: ['        query: >-', '          purchase', '          | last 30d | count'],
    });
    const several = changeCard(SOURCE, { ...base('orders'), query: 'signup # all\n| last 7d\n| count' });
    expect(difference(several).added).toEqual([
      '        query: |-',
      '          signup # all',
      '          | last 7d',
      '          | count',
    ]);
    expect(several).toContain('        options: {unit: "€"}\n\n      - {id: visits');
  });

  test('replaces a text between braces, and keeps the comment behind them', () => {
    expect(
      difference(changeCard(SOURCE, { ...base('visits'), viz: 'area', query: 'a {{range.stage}}\n| count' })),
    ).toEqual({
      added: [
        `      - {id: visits, title: 'Visits', kind: chart, viz: area, query: "a {{range.stage}}\\n| count"} # flow`,
      ],
      removed: [
        `      - {id: visits, title: 'Visits', kind: chart, viz: line, query: 'page_view {{range.stage}} | count by day'} # flow`,
      ],
    });
  });

  test('adds a field behind the last one, and removes it again', () => {
    const wide = changeCard(SOURCE, { ...base('orders'), layout: { w: 12, h: 4 } });
    expect(difference(wide)).toEqual({ added: ['        layout: { w: 12, h: 4 }'], removed: [] });
    expect(changeCard(wide, { ...base('orders'), layout: null })).toBe(SOURCE);
    const flow = changeCard(SOURCE, { ...base('visits'), layout: { w: 3, h: 4 } });
    expect(flow).toContain(`by day', layout: { w: 3, h: 4 }} # flow`);
    expect(changeCard(flow, { ...base('visits'), layout: null })).toBe(SOURCE);
  });

  test('of a block of Markdown keeps what follows', () => {
    const changed = changeCard(SOURCE, { ...base('notes'), markdown: '# New\n\ntext\n' });
    expect(changed).toContain('        markdown: |\n          # New\n\n          text\n  - title: Empty\n');
    expect(parse(changed).sections[0].cards[2].markdown).toBe('# New\n\ntext\n');
  });

  test('adds a card to the section that is named, with an id that is free', () => {
    const added = changeCard(SOURCE, {
      section: 0,
      title: 'Orders',
      kind: 'metric',
      viz: 'number',
      query: 'a | count',
    });
    expect(parse(added).sections[0].cards.map(({ id }: { id: string }) => id)).toEqual([
      'orders',
      'visits',
      'notes',
      'orders-2',
    ]);
    expect(difference(added).removed).toEqual([]);
    const inEmpty = changeCard(SOURCE, { section: 1, title: 'New', kind: 'metric', viz: 'number', query: 'a | count' });
    expect(parse(inEmpty).sections[1].cards).toEqual([
      { id: 'new', title: 'New', kind: 'metric', viz: 'number', query: 'a | count' },
    ]);
    expect(inEmpty).toContain('# The most important one.');
  });

  test('removes a card with its lines alone', () => {
    expect(difference(removeCard(SOURCE, 'visits'))).toEqual({
      added: [],
      removed: [expect.stringContaining('{id: visits')],
    });
    expect(parse(removeCard(removeCard(removeCard(SOURCE, 'visits'), 'notes'), 'orders')).sections[0].cards).toEqual(
      [],
    );
  });

  test.each([
    [{ ...base('orders'), id: 'none' }, SOURCE, 'the text has no card "none"'],
    [{ ...base('orders') }, 'a: [', 'the text cannot be changed by a form: this is not YAML'],
    [{ title: 'A', kind: 'metric', viz: 'number', section: 7 } as const, SOURCE, 'section 8 are not a list'],
  ])('%j is refused with a sentence', (change, source, sentence) => {
    expect(() => changeCard(source, change as CardChange)).toThrow(sentence);
  });

  test('to any text is read back, and changes nothing else', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc
        .array(fc.constantFrom('a', ' ', '\n', '#', ':', '"', "'", '|', '- ', '{{x}}', '\t', '%', '&', '*'), {
          minLength: 1,
          maxLength: 20,
        })
        .map((parts) => parts.join('')),
    );
    const property = fc.property(fc.constantFrom('orders', 'visits', 'notes'), text, text, (id, title, query) => {
      const key = id === 'notes' ? 'markdown' : 'query';
      const changed = changeCard(SOURCE, { ...base(id), title, [key]: query });
      const [before, after] = [parse(SOURCE), parse(changed)];
      const card = before.sections[0].cards.find((each: { id: string }) => each.id === id);
      Object.assign(card, { title, [key]: query });
      expect(after).toEqual(before);
      expect(changed).toContain('# The most important one.\n');
      expect(changed).toContain('title:   Sales   # shown in the list\n');
    });
    fc.assert(property, { numRuns: 500 });
  });
});
