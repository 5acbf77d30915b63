// Warnings about names in a query that the project has never sent (misspelt events, keys, values),
// with the nearest known names, and about definitions with the name of an event.
import type { MentionedValue, Mentions } from '../query/analyze/mentions.js';
import type { Definitions } from '../query/definitions/definitions.js';
import { quote } from '../query/errors.js';
import { NearestNames } from '../query/nearest-names.js';
import { type Catalog, hasAllEvents, hasAllProperties, hasAllTexts, keysOfBag } from './catalog.js';
import { EVENT_TYPES, propertyField, VALUE_COLUMNS } from './names.js';

const WARNINGS_MAX = 10;
const SHOWN_MAX = 3;

export function warningsOfUnseen(mentions: Mentions, catalog: Catalog): string[] {
  const names = new NearestNames();
  const warnings = [
    ...unseenEvents(mentions, catalog, names),
    ...unseenProperties(mentions, catalog, names),
    ...mentions.values.map((value) => unseenValue(value, catalog, names)).filter((warning) => warning !== undefined),
  ];
  return [...new Set(warnings)].slice(0, WARNINGS_MAX);
}

/** Names that were free when they were defined: the definition counts, and hides the event. */
export const warningsOfHidden = (definitions: Definitions, catalog: Catalog): string[] =>
  definitions
    .filter(({ kind, name }) => kind === 'event' && catalog.events.has(name))
    .map(
      ({ name }) =>
        `${quote(name)} is a definition, and by now an event of this project too, which * | where event_type = ${quote(name)} selects; rename the definition`,
    );

export const mentionsAny = ({ events, properties, values }: Mentions): boolean =>
  events.size + properties.length + values.length > 0;

/** Event types, also those that event_type is compared with. */
function unseenEvents({ events, values, defined }: Mentions, catalog: Catalog, names: NearestNames): string[] {
  if (!hasAllEvents(catalog)) return [];
  const compared = values.filter(({ of }) => 'column' in of && of.column === EVENT_TYPES).map(({ text }) => text);
  // Metrics and cohorts stand behind a word: metric activation, cohort.power.
  const known = [...new Set([...catalog.events.keys(), ...defined.filter((name) => !/[ .]/.test(name))])];
  return [...new Set([...events, ...compared])]
    .filter((type) => !catalog.events.has(type))
    .map((type) => {
      const other = defined.find((name) => name.split(/[ .]/)[1] === type);
      if (other) return `no event ${quote(type)} in this project; a definition is written ${quote(other)}`;
      const nearest = names.find(EVENT_TYPES, type, () => known);
      return `no event ${quote(type)} in this project${nearestOf(nearest, known, 'events are')}`;
    });
}

function unseenProperties({ events, properties }: Mentions, catalog: Catalog, names: NearestNames): string[] {
  const [event, ...others] = events;
  // The most frequent keys of the project are often of another event.
  const inspected = event !== undefined && others.length === 0 && catalog.events.has(event) ? event : undefined;
  return properties
    .filter(({ bag, key }) => hasAllProperties(catalog, bag) && !catalog.properties.has(propertyField(bag, key)))
    .map(({ bag, key, written }) => {
      const keys = keysOfBag(catalog, bag);
      const holder = bag === 'user' ? 'profile' : 'event';
      const nearest = names.find(bag, key, () => keys);
      const known =
        nearest === undefined && bag === 'event_properties' && inspected !== undefined
          ? `; inspect ${quote(inspected)} lists those of the event`
          : nearestOf(nearest, keys, 'keys are');
      return `no ${holder} of this project has ${quote(written)}${known}`;
    });
}

function unseenValue({ written, of, text }: MentionedValue, catalog: Catalog, names: NearestNames): string | undefined {
  const field = 'column' in of ? VALUE_FIELDS.get(of.column) : propertyField(of.bag, of.key);
  if (field === undefined || !hasAllTexts(catalog, field)) return undefined;
  const values = catalog.values.get(field) ?? [];
  // The key has a warning of its own when it is unknown.
  if (values.includes(text) || ('key' in of && !catalog.properties.has(field))) return undefined;
  if (values.length === 0) return `${written} has no values in this project`;
  const codes = codesFor(text, values);
  if (codes !== undefined) return `${written} is never ${quote(text)}; ${codes}`;
  const nearest = names.find(`value of ${field}`, text, () => values);
  return `${written} is never ${quote(text)}${nearestOf(nearest, values, 'values are')}`;
}

const VALUE_FIELDS: ReadonlyMap<string, string> = new Map(Object.entries(VALUE_COLUMNS));

function nearestOf(nearest: string | undefined, known: readonly string[], all: string): string {
  if (nearest !== undefined) return `; nearest: ${quote(nearest)}`;
  if (known.length === 0) return '';
  const shown = known.slice(0, SHOWN_MAX).map(quote).join(', ');
  return known.length > SHOWN_MAX ? `; ${all} such as ${shown}` : `; ${all} ${shown}`;
}

const CODE = /^[A-Z]{2,3}$/;
const COUNTRIES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/**
 * For a name where values are codes: the code of a country with this name, else the most frequent
 * code.
 */
function codesFor(text: string, values: readonly string[]): string | undefined {
  if (CODE.test(text) || !values.every((value) => CODE.test(value))) return undefined;
  const meant = values.find((code) => code.length === 2 && COUNTRIES.of(code)?.toLowerCase() === text.toLowerCase());
  return `values are codes such as ${quote(meant ?? values[0] ?? '')}`;
}
