// Sections, variables, queries and places of cards that are changed in the text of a dashboard:
// comments and everything that a form does not show stay.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { changeCard, moveCard } from '../../../src/dashboards/edit-card.js';
import { changeSection, changeVariable } from '../../../src/dashboards/edit-structure.js';
import { differenceOf } from './documents.js';

const SOURCE = `# Owned by the growth team.
version: 1
title:   Sales   # shown in the list
variables:
  range: {type: date_range, default: last 30d} # all cards
  # Sold since 2025.
  plan:
    type: select
    label:  Plan # of the customer
    default: pro
    options:
      - value: pro # the most
        label: Pro
        fragment: where user.plan = "pro"
      - {value: free, fragment: 'where user.plan = "free"'}
sections:
  # Numbers first.
  - title: Numbers # above all
    cards:
      # The most important one.
      - id: orders
        title: Orders # of all shops
        kind: metric
        viz: number
        query: purchase {{range.stage}} {{plan.fragment}} | count

      # Two lines.
      - id: visits
        title: Visits
        kind: chart
        viz: line
        queries:
          # Of the shop.
          - name: Shop # green
            query: page_view {{ range.stage }} | count by day
          - {name: Blog, query: 'post_view {{range.stage}} | count by day'}
  - title: Rest
    cards:
    - id: notes
      title: Notes
      kind: markdown
      viz: markdown
      markdown: |
        # About
          indented
  - title: Empty
    cards: [] # later
`;

const COMMENTS = SOURCE.match(/# .*$/gm)?.filter((comment) => comment !== '# About') ?? [];

const difference = (changed: string) => differenceOf(SOURCE, changed);

const idsOf = (source: string): string[][] =>
  parse(source).sections.map(({ cards }: { cards: { id: string }[] }) => cards.map(({ id }) => id));

describe('a section', () => {
  test('is renamed in its place, added at the end, and removed with its cards', () => {
    expect(difference(changeSection(SOURCE, { index: 0, title: 'Figures: all' }))).toEqual({
      added: ['  - title: "Figures: all" # above all'],
      removed: ['  - title: Numbers # above all'],
    });
    const added = changeSection(SOURCE, { title: 'New' });
    expect(added).toBe(`${SOURCE}  - title: New\n    cards: []\n`);
    expect(changeSection(added, { index: 3, title: null })).toBe(SOURCE);
    const removed = changeSection(SOURCE, { index: 1, title: null });
    expect(difference(removed).added).toEqual([]);
    expect(idsOf(removed)).toEqual([['orders', 'visits'], []]);
  });

  test.each([
    [{ index: 7, title: 'A' }, SOURCE, 'the text has no section 8'],
    [{ title: null }, SOURCE, 'section.index is required'],
    [{ index: 0, title: null }, 'sections:\n  - title: A\n    cards: []\n', 'has at least one section'],
    [{ title: 'A' }, 'title: A', 'no list of sections'],
  ])('%j is refused with a sentence', (change, source, sentence) => {
    expect(() => changeSection(source, change)).toThrow(sentence);
  });
});

describe('a card', () => {
  test('moves within its section with the comment above it', () => {
    const moved = moveCard(SOURCE, { card: 'visits', section: 0, index: 0 });
    expect(idsOf(moved)[0]).toEqual(['visits', 'orders']);
    expect(moved).toContain('    cards:\n      # Two lines.\n      - id: visits\n');
    expect(difference(moved)).toEqual({ added: [], removed: [] });
    expect(moveCard(SOURCE, { card: 'visits', section: 0, index: 9 })).toBe(SOURCE);
  });

  test('moves to another section, to an empty one too, and leaves an empty list', () => {
    const emptied = moveCard(SOURCE, { card: 'notes', section: 2, index: 0 });
    expect(idsOf(emptied)).toEqual([['orders', 'visits'], [], ['notes']]);
    expect(emptied).toContain(
      '  - title: Rest\n    cards: []\n  - title: Empty\n    cards: # later\n      - id: notes\n',
    );
    expect(parse(emptied).sections[2].cards[0].markdown).toBe('# About\n  indented\n');
    expect(idsOf(moveCard(emptied, { card: 'notes', section: 1, index: 0 }))).toEqual(idsOf(SOURCE));
    expect(idsOf(moveCard(SOURCE, { card: 'orders', section: 1, index: 1 }))).toEqual([
      ['visits'],
      ['notes', 'orders'],
      [],
    ]);
  });

  test('has its queries changed one by one', () => {
    const of = (queries: { name: string; query: string }[]) => ({
      ...({ id: 'visits', title: 'Visits', kind: 'chart', viz: 'line', queries } as const),
    });
    const [shop, blog] = parse(SOURCE).sections[0].cards[1].queries;
    expect(changeCard(SOURCE, of([shop, blog]))).toBe(SOURCE);
    expect(difference(changeCard(SOURCE, of([{ ...shop, name: 'Store' }, blog])))).toEqual({
      added: ['          - name: Store # green'],
      removed: ['          - name: Shop # green'],
    });
    const third = changeCard(SOURCE, of([shop, blog, { name: 'All', query: '* | count by day' }]));
    expect(difference(third)).toEqual({
      added: ['          - name: All', '            query: "* | count by day"'],
      removed: [],
    });
    expect(changeCard(third, of([shop, blog]))).toBe(SOURCE);
    expect(parse(changeCard(SOURCE, of([blog]))).sections[0].cards[1].queries).toEqual([blog]);
  });
});

describe('a variable', () => {
  const plan = parse(SOURCE).variables.plan;

  test('changes field by field and option by option', () => {
    expect(changeVariable(SOURCE, { name: 'plan', variable: plan })).toBe(SOURCE);
    const options = [{ ...plan.options[0], label: 'Professional' }, plan.options[1], { value: 'team' }];
    expect(
      difference(changeVariable(SOURCE, { name: 'plan', variable: { ...plan, default: 'free', options } })),
    ).toEqual({
      added: ['    default: free', '        label: Professional', '      - value: team'],
      removed: ['    default: pro', '        label: Pro'],
    });
    const { label: _, ...unlabelled } = plan;
    expect(difference(changeVariable(SOURCE, { name: 'plan', variable: unlabelled })).removed).toEqual([
      '    label:  Plan # of the customer',
    ]);
  });

  test('is renamed with its placeholders', () => {
    const renamed = changeVariable(SOURCE, {
      name: 'range',
      new_name: 'time',
      variable: parse(SOURCE).variables.range,
    });
    expect(difference(renamed).added).toEqual([
      '  time: {type: date_range, default: last 30d} # all cards',
      '        query: purchase {{time.stage}} {{plan.fragment}} | count',
      '            query: page_view {{ time.stage }} | count by day',
      "          - {name: Blog, query: 'post_view {{time.stage}} | count by day'}",
    ]);
  });

  test('is added, the first one too, and removed', () => {
    const email = { type: 'input', label: 'E-mail' } as const;
    const added = changeVariable(SOURCE, { new_name: 'email', variable: email });
    expect(difference(added)).toEqual({ added: ['  email: { type: input, label: E-mail }'], removed: [] });
    expect(changeVariable(added, { name: 'email', variable: null })).toBe(SOURCE);
    const none = changeVariable(changeVariable(SOURCE, { name: 'plan', variable: null }), {
      ...{ name: 'range', variable: null },
    });
    expect(parse(none)).not.toHaveProperty('variables');
    const first = changeVariable(none, { new_name: 'email', variable: email });
    expect(first).toBe(
      none.replace('\nsections:', '\nvariables:\n  email:\n    type: input\n    label: E-mail\nsections:'),
    );
  });

  test.each([
    [{ name: 'none', variable: plan }, 'the text has no variable "none"'],
    [{ name: 'plan', new_name: 'range', variable: plan }, 'there is another variable "range"'],
    [{ variable: plan }, 'variable.new_name is required'],
  ])('%j is refused with a sentence', (change, sentence) => {
    expect(() => changeVariable(SOURCE, change)).toThrow(sentence);
  });
});

test('any changes one after the other mean the same in the text as in the data, and keep the comments', () => {
  const move = fc.record({
    card: fc.constantFrom('orders', 'visits', 'notes'),
    section: fc.integer({ min: 0, max: 2 }),
    index: fc.integer({ min: 0, max: 2 }),
  });
  const title = fc.constantFrom('A', 'b: c', '- d', '"e"', '# f');
  const property = fc.property(fc.array(move, { minLength: 1, maxLength: 4 }), title, (moves, name) => {
    let text = SOURCE;
    const wanted = parse(SOURCE);
    for (const { card, section, index } of moves) {
      text = moveCard(text, { card, section, index });
      for (const { cards } of wanted.sections) {
        const at = cards.findIndex(({ id }: { id: string }) => id === card);
        if (at === -1) continue;
        const [moved] = cards.splice(at, 1);
        wanted.sections[section].cards.splice(index, 0, moved);
        break;
      }
      text = changeSection(text, { index: section, title: name });
      wanted.sections[section].title = name;
    }
    expect(parse(text)).toEqual(wanted);
    for (const comment of COMMENTS) expect(text).toContain(comment);
  });
  fc.assert(property, { numRuns: 60 });
});
