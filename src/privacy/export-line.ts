// SQL that formats an event of an export as one line of JSON, in the fields that POST /track
// accepts. An absent field is null, so that a line that is sent again does not inherit values of
// the sender.
import { GEO_TEXT_FIELDS } from '../ingest/enrich/geography.js';

const text = (column: string): string => `toJSONString(${column})`;
const textOrNull = (column: string): string => `if(${column} = '', 'null', ${text(column)})`;

const entries = (map: string): string =>
  `arrayMap((key, value) -> concat(toJSONString(key), ':', toJSONString(value)), mapKeys(${map}), mapValues(${map}))`;

const object = (...members: string[]): string =>
  `concat('{', arrayStringConcat(arrayConcat(${members.join(', ')}), ','), '}')`;

/**
 * Every key in its original type. A numeric text is stored both as text and as number, and is
 * exported as text.
 */
const properties = (prefix: 'ep' | 'up'): string =>
  object(
    entries(`${prefix}_str`),
    entries(`mapFilter((key, value) -> NOT mapContains(${prefix}_str, key), ${prefix}_num)`),
    entries(`${prefix}_bool`),
    `arrayMap(key -> concat(toJSONString(key), ':null'), ${prefix}_null)`,
  );

const GEO_TEXTS = [...GEO_TEXT_FIELDS, 'source'].map((field) => `'${field}', geo_${field}`).join(', ');

const geography = object(
  entries(`mapFilter((key, value) -> value != '', map(${GEO_TEXTS}))`),
  entries("mapFilter((key, value) -> NOT isNaN(value), map('latitude', geo_latitude, 'longitude', geo_longitude))"),
);

/** Also of events that came with one in place of a user agent. */
const AGENT = ['browser', 'browser_version', 'os', 'os_version', 'device_type']
  .map((field) => `'${field}', toString(${field})`)
  .join(', ');

const FIELDS: readonly (readonly [name: string, sql: string])[] = [
  ['event_type', text('event_type')],
  ['time', text('time')],
  ['insert_id', text('insert_id')],
  ['user_id', textOrNull('user_id')],
  ['device_id', textOrNull('device_id')],
  ['session_id', textOrNull('session_id')],
  ['event_properties', properties('ep')],
  ['user_properties', properties('up')],
  ['library', textOrNull('library')],
  ['origin', text('ingest_origin')],
  ['ip', textOrNull('ip')],
  ['user_agent', textOrNull('ua')],
  ['agent', object(entries(`mapFilter((key, value) -> value != '', map(${AGENT}))`))],
  ['geo', geography],
];

export const EVENT_LINE = `concat('{', ${FIELDS.map(([name, sql]) => `'"${name}":', ${sql}`).join(", ',', ")}, '}')`;

/** Settings that the SQL above relies on. */
export const LINE_SETTINGS = { output_format_json_escape_forward_slashes: 0, date_time_output_format: 'iso' } as const;
