// The part of the screen Data and the name that is open, behind `#`: #part=…&name=…
export const PARTS = ['events', 'properties', 'rejected'] as const;
export type Part = (typeof PARTS)[number];

export interface DataAddress {
  readonly part: Part;
  readonly name: string | undefined;
}

export function parseData(fragment: string): DataAddress {
  const of = new URLSearchParams(fragment.replace(/^#/, ''));
  return { part: PARTS.find((part) => part === of.get('part')) ?? 'events', name: of.get('name') ?? undefined };
}

export const toData = (part: Part, name?: string): string =>
  `#${new URLSearchParams({ part, ...(name !== undefined && { name }) })}`;
