// Moves a long list of JSON values out of a thread as texts. Cloning 400,000 properties blocks the
// event loop for 100 to 140 ms; their texts are parsed in 35 ms, with other work in between.
import { setImmediate as nextIteration } from 'node:timers/promises';

/** About half a millisecond of parsing. */
const TEXT_LENGTH = 32 * 1024;

/** JSON texts of lists, which hold the values in their order. */
export function writeList(values: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  let items: string[] = [];
  let length = 0;
  const close = () => {
    if (items.length > 0) texts.push(`[${items.join(',')}]`);
    [items, length] = [[], 0];
  };
  for (const value of values) {
    const item = JSON.stringify(value);
    items.push(item);
    length += item.length;
    if (length >= TEXT_LENGTH) close();
  }
  close();
  return texts;
}

/** The list that `writeList` wrote. */
export async function readList<T>(texts: readonly string[]): Promise<T[]> {
  const values: T[] = [];
  for (const [index, text] of texts.entries()) {
    if (index > 0) await nextIteration();
    values.push(...(JSON.parse(text) as T[]));
  }
  return values;
}
