// Queries of the screen People: search, events and profile of a person. Each can be opened in Ask.
import { quoteText } from '../../../src/query/parse/strings.js';

/** Longer than any profile is old. */
const EVER = 'last 50y';
export const FOUND_MAX = 50;

export function searchQuery(words: string): string {
  const text = words.trim();
  const domain = /^\*@(.+)$/.exec(text)?.[1];
  const condition =
    text === ''
      ? ''
      : domain !== undefined
        ? ` | where email_domain = ${quoteText(domain)}`
        : ` | where user_id contains ${quoteText(text)} or email contains ${quoteText(text)}`;
  return `users | ${EVER}${condition} | limit ${FOUND_MAX}`;
}

export const eventsQuery = (id: string, range: string): string => `user ${quoteText(id)} | ${range} | limit 500`;
export const profileQuery = (id: string): string => `users | ${EVER} | where user_id = ${quoteText(id)}`;
export const devicesQuery = (id: string, range: string): string =>
  `* | ${range} | where distinct_id = ${quoteText(id)} and device_id exists | count by device_id, user_id`;
