// Paths of an answer merged by position: nodes, links, and the steps that stand for rare ones.
import { expect, test } from 'vitest';
import { toFlow } from '../../../console/src/answer/flow.js';
import type { Answer } from '../../../console/src/api/answer.js';

const pathsOf = (rows: Answer['rows']): Answer => ({
  ...{ columns: ['path', 'users'], rows, total: rows.length, elapsed_ms: 1, rows_scanned: 1 },
  ...{ period: '2026-03-01T00:00:00Z/2026-03-03T00:00:00Z', mode: 'paths', metadata: {} },
});

test('toFlow() merges paths by position and groups rare steps', () => {
  const paths = Array.from({ length: 9 }, (_, index) => ({ path: ['a', `b${index}`, 'c'], users: 10 - index }));
  const { columns, links } = toFlow(pathsOf(paths), 'rest');
  expect(columns.map((nodes) => nodes.length)).toEqual([1, 7, 1]);
  expect(columns[0]?.[0]).toEqual({ position: 0, name: 'a', people: 54 });
  expect(columns[1]?.at(-1)).toEqual({ position: 1, name: 'rest', people: 9 });
  const into = (position: number): number =>
    links.filter(({ to }) => to.position === position).reduce((sum, { people }) => sum + people, 0);
  expect([into(1), into(2)]).toEqual([54, 54]);
});

test('toFlow() has no node behind the end of a path, and the largest first', () => {
  const paths = [
    { path: ['a'], users: 5 },
    { path: ['a', 'b'], users: 1 },
    { path: ['c', 'd'], users: 7 },
  ];
  const { columns, links } = toFlow(pathsOf(paths), 'rest');
  expect(columns.map((nodes) => nodes.map(({ name, people }) => `${name} ${people}`))).toEqual([
    ['c 7', 'a 6'],
    ['d 7', 'b 1'],
  ]);
  expect(links.map(({ from, to, people }) => `${from.name} ${to.name} ${people}`)).toEqual(['a b 1', 'c d 7']);
});
