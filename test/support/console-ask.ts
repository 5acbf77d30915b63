// Ask in a browser: the address of a question, the region of its answer, and the question that the
// address holds.
import { expect } from 'vitest';
import type { ConsoleVisit } from './console.js';

export const askPath = (q = '', view = ''): string =>
  `/ask${q === '' ? '' : `#${new URLSearchParams({ q, ...(view !== '' && { view }) })}`}`;
export const region = ({ page }: ConsoleVisit) => page.getByRole('region', { name: 'Answer' });
export const queryIn = ({ page }: ConsoleVisit): string =>
  new URLSearchParams(new URL(page.url()).hash.slice(1)).get('q') ?? '';

export async function expectQuery(visited: ConsoleVisit, q: string): Promise<void> {
  await expect.poll(() => queryIn(visited)).toBe(q);
}
