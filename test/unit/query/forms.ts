// Queries at the limits of the language: forms at each limit, and texts of 16 KiB.
import { FORM_LIMITS, QUERY_BYTES_MAX } from '../../../src/query/limits.js';

const { conditions, conditionFields, groups, listFields, sortKeys, steps, excluded, calls, patterns } = FORM_LIMITS;

const numbered = (count: number, form: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => form(index));

/** The maximum of conditions, each with its own value, over the maximum of different fields. */
const conditionsOf = (prefix: string, form: (field: string, index: number) => string): string[] =>
  numbered(conditions.max, (index) => form(`${prefix}w${index % conditionFields.max}`, index));

const MIXED_VALUES = '("a§", "§", "1e§", §, -§, true, "0x§")';
const mixed = (field: string, index: number): string => `${field} in ${MIXED_VALUES.replaceAll('§', `${100 + index}`)}`;
const mostly = (fields: readonly string[], max: number): string => fields.slice(0, max).join(', ');

const eventKeys = numbered(50, (index) => `event_properties.g${index}`);
const userKeys = numbered(50, (index) => `user.g${index}`);

/** Queries at each limit, which compile. */
export const FORMS_AT_LIMITS: Readonly<Record<string, string>> = {
  'conditions of mixed values, and groups': `* | where ${conditionsOf('event_properties.', mixed).join(' or ')} | count by ${mostly(eventKeys, groups.max)}`,
  'conditions on profiles, and groups': `* | where ${conditionsOf('user.', mixed).join(' or ')} | unique event_properties.x by ${mostly(userKeys, groups.max)}`,
  'conditions as text order, and a list': `* | where ${conditionsOf('user_properties.', (field, index) => `${field} > "x${index}"`).join(' and ')} | list ${mostly(eventKeys, listFields.max)} | sort ${mostly(eventKeys, sortKeys.max)}`,
  'conditions of contains': `* | where not (${conditionsOf('event_properties.', (field, index) => `${field} contains "${index}"`).join(' or ')})`,
  'regular expressions': `* | where ${numbered(patterns.max, (index) => `event_properties.w${index} ~ "^x{${index}}"`).join(' or ')}`,
  'a listing of users': `users | where ${conditionsOf('', mixed).join(' or ')} | list ${mostly(userKeys, listFields.max)} | sort ${mostly(userKeys, sortKeys.max)}`,
  sessions: `sessions | where ${conditionsOf('event_properties.', mixed).join(' or ')} | count by session.landing_path, session.country`,
  'a funnel': `funnel ${numbered(steps.max, (index) => `s${index}`).join(' -> ')} exclude ${numbered(excluded.max, (index) => `x${index}`).join(', ')} | where ${conditionsOf('event_properties.', mixed).join(' or ')} | by user.plan`,
  'a formula': `formula ${numbered(calls.max, (index) => `unique(e${index}, event_properties.f${index})`).join(' + ')} | where ${conditionsOf('event_properties.', mixed).join(' or ')} | by day`,
  'calls in conditions': `* | where ${numbered(calls.max, (index) => `sum((e${index}[x = ${index}], f${index}[y > ${index}]), p${index} last ${index + 1}d${['', ' per session_id', ' per user.company', ' per event_properties.k'][index % 4]}) > ${index}`).join(' or ')} | unique by day`,
  'a formula of numbers': `formula count(a)${numbered(60, (index) => ` + ${index}.5`).join('')}`,
  'nested parentheses': `* | where ${'(_path = "a" and ('.repeat(31)}_path = "b"${'))'.repeat(31)}`,
  'a choice': `choice k | results pay | where ${conditionsOf('event_properties.', mixed).join(' or ')}`,
  times: `* | where ${numbered(50, (index) => `time in (2026-01-01T00:00:${10 + index}Z, 2026-02-${10 + (index % 19)})`).join(' or ')}`,
};

/** Items between a head and a tail, as many as 16 KiB hold. */
function full(head: string, item: (index: number) => string, tail: string, separator = ','): string {
  let text = head + item(0);
  for (let index = 1; ; index++) {
    const next = separator + item(index);
    if (Buffer.byteLength(text + next + tail) > QUERY_BYTES_MAX) return text + tail;
    text += next;
  }
}

/** Queries of 16 KiB, which compile. */
export const FULL_TEXTS: Readonly<Record<string, string>> = {
  'a list of persons': full('* | where distinct_id in (', (index) => `"u${index}"`, ') | count'),
  'a list of persons that are left out': full('* | where distinct_id not in [', (index) => `u${index}`, '] | unique'),
  'a list of users': full('* | where user_id in (', (index) => `${index}`, ') | count'),
  'a list of numbers': full('* | where event_properties.n in (', (index) => `${index}e9`, ') | list'),
  'a list of texts of a property': full('* | where event_properties.n in (', (index) => `"${index}\\\\"`, ') | count'),
  'a list of signs that are escaped': full('* | where _path in (', () => `"${'\\n\\t'.repeat(500)}"`, ') | count'),
  'a chain of or': full('* | where _path = "/" or ', (index) => `_path = "/${index}"`, ' | count', ' or '),
  'a chain of conditions that are left out': full('* | where ', (index) => `user_id != "u${index}"`, '', ' and '),
  'many where stages': full('*', (index) => ` | where event_properties.n != ${index}`, ' | count', ''),
  'a long text': `* | where _path = "${'ü'.repeat(8_000)}" | count`,
  'a long name': `"${'x'.repeat(16_000)}" | count`,
};
