// Places for the requests of a page that may run at a time.
import { expect, test } from 'vitest';
import { createPlaces } from '../../../console/src/api/places.js';

test('a place goes to the one that waits, and not to one that comes in the same moment', async () => {
  const { enter, leave } = createPlaces(2);
  const inside: string[] = [];
  const come = (name: string) => void enter().then(() => inside.push(name));
  for (const name of ['a', 'b', 'c']) come(name);
  await null;
  leave();
  come('d');
  await expect.poll(() => inside).toEqual(['a', 'b', 'c']);
  leave();
  leave();
  come('e');
  await expect.poll(() => inside).toHaveLength(5);
});
