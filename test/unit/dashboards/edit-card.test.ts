// Cards that are changed in the text of a dashboard: each field replaces its own span, whatever the
// text looks like around it.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type CardChange, changeCard, removeCard } from '../../../src/dashboards/edit-card.js';
import { baseOf, COMMENTED, differenceOf, SMALLEST } from './documents.js';

const difference = (changed: string) => differenceOf(COMMENTED, changed);

describe('a change of a card', () => {
  test('of nothing leaves the text as it is', () => {
    for (const id of ['orders', 'visits', 'notes']) expect(changeCard(COMMENTED, baseOf(id))).toBe(COMMENTED);
  });

  test('replaces a plain text and keeps the comment behind it', () => {
    expect(difference(changeCard(COMMENTED, { ...baseOf('orders'), title: 'Orders: "all" # of them' }))).toEqual({
      added: ['        title: "Orders: \\"all\\" # of them" # of all shops'],
      removed: ['        title: Orders # of all shops'],
    });
  });

  test('replaces a folded query by one line, and by several', () => {
    expect(difference(changeCard(COMMENTED, { ...baseOf('orders'), query: 'signup | count' }))).toEqual({
      added: ['        query: signup | count'],
      removed: ['        query: >-', '          purchase', '          | last 30d | count'],
    });
    const several = changeCard(COMMENTED, { ...baseOf('orders'), query: 'signup # all\n| last 7d\n| count' });
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
      difference(changeCard(COMMENTED, { ...baseOf('visits'), viz: 'area', query: 'a {{range.stage}}\n| count' })),
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
    const wide = changeCard(COMMENTED, { ...baseOf('orders'), layout: { w: 12, h: 4 } });
    expect(difference(wide)).toEqual({ added: ['        layout: { w: 12, h: 4 }'], removed: [] });
    expect(changeCard(wide, { ...baseOf('orders'), layout: null })).toBe(COMMENTED);
    const flow = changeCard(COMMENTED, { ...baseOf('visits'), layout: { w: 3, h: 4 } });
    expect(flow).toContain(`by day', layout: { w: 3, h: 4 }} # flow`);
    expect(changeCard(flow, { ...baseOf('visits'), layout: null })).toBe(COMMENTED);
  });

  test('of a layout changes only its fields that differ', () => {
    const changedLayout = (layout: string, change: CardChange['layout']) => {
      const text = COMMENTED.replace(/(title: Orders.*\n)/, `$1        layout: ${layout}\n`);
      expect(text).not.toBe(COMMENTED);
      return differenceOf(text, changeCard(text, { ...baseOf('orders'), layout: change }));
    };
    const lines = '\n          w: 12 # wide';
    expect(changedLayout(lines, { w: 4 })).toEqual({
      added: ['          w: 4 # wide'],
      removed: ['          w: 12 # wide'],
    });
    expect(changedLayout(lines, { w: 12, h: 3 })).toEqual({ added: ['          h: 3'], removed: [] });
    expect(changedLayout('{w: 3,   h: 2} # small', { h: 2 })).toEqual({
      added: ['        layout: {h: 2} # small'],
      removed: ['        layout: {w: 3,   h: 2} # small'],
    });
  });

  test('of a block of Markdown keeps what follows', () => {
    const changed = changeCard(COMMENTED, { ...baseOf('notes'), markdown: '# New\n\ntext\n' });
    expect(changed).toContain('        markdown: |\n          # New\n\n          text\n  - title: Empty\n');
    expect(parse(changed).sections[0].cards[2].markdown).toBe('# New\n\ntext\n');
  });

  test('adds a card to the section that is named, with an id that is free', () => {
    const added = changeCard(COMMENTED, {
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
    const beside = changeCard(SMALLEST, { title: 'A', kind: 'metric', viz: 'number', query: 'a | count' });
    expect(parse(beside).sections[0].cards).toMatchObject([{ id: 'a' }, { id: 'a-2' }]);
    const inEmpty = changeCard(COMMENTED, {
      section: 1,
      title: 'New',
      kind: 'metric',
      viz: 'number',
      query: 'a | count',
    });
    expect(parse(inEmpty).sections[1].cards).toEqual([
      { id: 'new', title: 'New', kind: 'metric', viz: 'number', query: 'a | count' },
    ]);
    expect(inEmpty).toContain('# The most important one.');
  });

  test('removes a card with its lines alone', () => {
    expect(difference(removeCard(COMMENTED, 'visits'))).toEqual({
      added: [],
      removed: [expect.stringContaining('{id: visits')],
    });
    expect(parse(removeCard(removeCard(removeCard(COMMENTED, 'visits'), 'notes'), 'orders')).sections[0].cards).toEqual(
      [],
    );
  });

  test.each([
    [{ ...baseOf('orders'), id: 'none' }, COMMENTED, 'the text has no card "none"'],
    [{ ...baseOf('orders') }, 'a: [', 'the text cannot be changed by a form: this is not YAML'],
    [{ title: 'A', kind: 'metric', viz: 'number', section: 7 } as const, COMMENTED, 'section 8 are not a list'],
  ])('%j is refused with a sentence', (change, source, sentence) => {
    expect(() => changeCard(source, change as CardChange)).toThrow(sentence);
  });
});
