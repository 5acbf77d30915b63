// Names, fields and values as the query language writes them, from what people type or click.
import { COHORT_PREFIX } from '../../../src/query/definitions/definitions.js';
import { quoteText } from '../../../src/query/parse/strings.js';

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.:/$-]*$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** A value that is written already: quoted, or a list. */
const WRITTEN = /^(?:"(?:[^"\\]|\\.)*"|[([].*[)\]])$/s;

export const nameText = (name: string): string => (name === '*' || PLAIN_NAME.test(name) ? name : quoteText(name));

/**
 * Words that begin another source: an event that is called so stands in quotes where a query
 * begins.
 */
export const SOURCE_WORDS: ReadonlySet<string> = new Set(
  'funnel retention paths sessions lifecycle stickiness user users formula fields inspect choice metric'.split(' '),
);

export const sourceText = (name: string): string => (SOURCE_WORDS.has(name) ? quoteText(name) : nameText(name));

/** Keys of properties with other signs stand in quotes behind their prefix. */
export function fieldText(name: string): string {
  const [, prefix, key] = /^(event_properties|user_properties|user)\.(.+)$/.exec(name) ?? [];
  if (prefix === undefined || key === undefined) return name;
  return PLAIN_NAME.test(key) || WRITTEN.test(key) ? name : `${prefix}.${quoteText(key)}`;
}

/** What people type as a value: numbers, `true` and what is written already stay. */
export const valueText = (value: string): string =>
  NUMBER.test(value) || WRITTEN.test(value) || value === 'true' || value === 'false' ? value : quoteText(value);

/**
 * A value of an answer as a filter by its field writes it. A text stands in quotes, whatever it
 * looks like: groups are the text forms of their values. Cohorts are only true or false.
 */
export const cellText = (field: string, cell: string | number | boolean): string =>
  typeof cell === 'string' && !field.startsWith(COHORT_PREFIX) ? quoteText(cell) : String(cell);
