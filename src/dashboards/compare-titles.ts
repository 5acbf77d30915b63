// The order of titles in lists, as people count: "Board 2" stands before "Board 10".

const TITLES = new Intl.Collator('en', { numeric: true });

/** What has no dashboard stands last. */
export function compareTitles(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return TITLES.compare(a, b);
}
