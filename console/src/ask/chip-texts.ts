// What people type into the forms of chips, as the query language writes it.
import { quoteText } from '../../../src/query/parse/strings.js';

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.:/$-]*$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** A value that is written already: quoted, or a list. */
const WRITTEN = /^(?:"(?:[^"\\]|\\.)*"|[([].*[)\]])$/s;

export const nameText = (name: string): string => (name === '*' || PLAIN_NAME.test(name) ? name : quoteText(name));

/** Keys of properties with other signs stand in quotes behind their prefix. */
export function fieldText(name: string): string {
  const [, prefix, key] = /^(event_properties|user_properties|user)\.(.+)$/.exec(name) ?? [];
  if (prefix === undefined || key === undefined) return name;
  return PLAIN_NAME.test(key) || WRITTEN.test(key) ? name : `${prefix}.${quoteText(key)}`;
}

export const valueText = (value: string): string =>
  NUMBER.test(value) || WRITTEN.test(value) || value === 'true' || value === 'false' ? value : quoteText(value);
