// The person or the search in the address, behind `#`, which browsers never send: an id may be an
// e-mail address. #id=…&range=… or #search=…
export const RANGES = ['last 7d', 'last 30d', 'last 90d', 'last 1y'] as const;
export type Range = (typeof RANGES)[number];

export interface PeopleAddress {
  readonly id: string | undefined;
  /** Words that people are searched by; empty for the newest. */
  readonly words: string;
  readonly range: Range;
}

const RANGE = 'last 90d';

export function parsePeople(fragment: string): PeopleAddress {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const range = RANGES.find((each) => each === parameters.get('range')) ?? RANGE;
  return { id: parameters.get('id') ?? undefined, words: parameters.get('search') ?? '', range };
}

export const toPerson = (id: string, range: Range = RANGE): string =>
  `#${new URLSearchParams({ id, ...(range !== RANGE && { range }) })}`;

export const toSearch = (words: string): string => (words === '' ? '' : `#${new URLSearchParams({ search: words })}`);
