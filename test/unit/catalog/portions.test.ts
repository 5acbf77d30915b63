// How a change of catalogs is divided into transactions.
import { expect, test } from 'vitest';
import { portionsOf } from '../../../src/catalog/store.js';

const namesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ kind: 'event', field: '', name: `e${n}`, events: 1 }) as const);
const changeOf = (projectId: string, count: number, dropped: readonly string[] = []) => ({
  ...{ projectId, generation: 0, names: namesOf(count), dropped },
});

test('projects with few names come first and share a portion, one with many has its own', () => {
  const portions = portionsOf([changeOf('many', 4500), changeOf('few', 3), changeOf('some', 1000)]);
  expect(portions.map((portion) => portion.map(({ projectId, names }) => [projectId, names.length]))).toEqual([
    [
      ['few', 3],
      ['some', 1000],
    ],
    [['many', 2000]],
    [['many', 2000]],
    [['many', 500]],
  ]);
  const stored = portions.flat().filter(({ projectId }) => projectId === 'many');
  expect(stored.flatMap(({ names }) => names)).toEqual(namesOf(4500));
});

test('values of a field are deleted with the last portion, when its mark is stored', () => {
  const portions = portionsOf([changeOf('a', 4500, ['event_properties.id'])]);
  expect(portions.map(([portion]) => portion?.dropped)).toEqual([[], [], ['event_properties.id']]);
});
