// Queries of the screen People: search, events and profile of a person. Each can be opened in Ask.
import { quoteText } from '../../../src/query/parse/strings.js';

/** Longer than any profile is old. */
const EVER = 'last 50y';
/** People of a search that are listed; the answer has the number of all. */
export const FOUND_MAX = 50;
/** Rows of each answer about a person. */
export const ROWS_MAX = 500;

/** People with or without a profile. */
export const ACTIVE = '* | last 30d | count by distinct_id | top 50';

export function searchQuery(words: string): string {
  const text = words.trim();
  const domain = /^\*@(.+)$/.exec(text)?.[1];
  const condition =
    text === ''
      ? ''
      : domain !== undefined
        ? ` | where email_domain = ${quoteText(domain)}`
        : ` | where user_id contains ${quoteText(text)} or email contains ${quoteText(text)}`;
  return `users | ${EVER}${condition}`;
}

export const eventsQuery = (id: string, range: string): string => `user ${quoteText(id)} | ${range}`;
export const profileQuery = (id: string): string => `users | ${EVER} | where user_id = ${quoteText(id)}`;
export const devicesQuery = (id: string, range: string): string =>
  `* | ${range} | where distinct_id = ${quoteText(id)} and device_id exists | count by device_id, user_id`;
