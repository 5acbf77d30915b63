// The person in the address, behind `#`, which browsers never send: an id may be an e-mail address.
// #id=…&range=…
export const RANGES = ['last 7d', 'last 30d', 'last 90d', 'last 1y'] as const;
export type Range = (typeof RANGES)[number];

export interface PeopleAddress {
  readonly id: string | undefined;
  readonly range: Range;
}

const RANGE = 'last 90d';

export function parsePeople(fragment: string): PeopleAddress {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const range = RANGES.find((each) => each === parameters.get('range')) ?? RANGE;
  return { id: parameters.get('id') ?? undefined, range };
}

export const toPerson = (id: string, range: Range = RANGE): string =>
  `#${new URLSearchParams({ id, ...(range !== RANGE && { range }) })}`;
