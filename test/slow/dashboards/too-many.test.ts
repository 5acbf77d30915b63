// Dashboard documents with more cards and options than the limits of the parser.
import { expect, test } from 'vitest';
import { CARD, problemsOf } from '../../unit/dashboards/documents.js';

test('parseDashboard() refuses the first card above the limit before it compiles a query', () => {
  const cards = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => CARD.replace('id: a', `id: c${from + index}`)).join(', ');
  const ofCards = (count: number) =>
    `version: 1\ntitle: T\nsections:\n- title: S\n  cards: [${cards(0, 100)}]\n- title: S\n  cards: [${cards(100, count)}]\n`;
  expect(problemsOf(ofCards(200))).toEqual([]);
  expect(problemsOf(ofCards(201).replace('query: signup | count', 'query: "|"'))).toEqual([
    '7 «{id: c20» sections[1].cards[100]: the dashboard has 201 cards; the limit is 200; split it into several dashboards',
  ]);
});

test('parseDashboard() refuses too many combinations of queries and options before it compiles them', () => {
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
