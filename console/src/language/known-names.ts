// Fields and values that completion and chips offer: the fields of the language and those of the
// project's catalog.
import { EVENT_FIELD_NAMES, findEventField } from '../../../src/query/fields.js';
import { PROFILE_KEYS } from '../../../src/query/profile-fields.js';
import { SESSION_KEYS } from '../../../src/query/session-fields.js';
import type { Name, Names } from '../api/answer.js';

const LANGUAGE_FIELDS: readonly Name[] = [
  ...EVENT_FIELD_NAMES.map((name) => ({ name, detail: '' })),
  ...PROFILE_KEYS.map((key) => ({ name: `user.${key}`, detail: '' })),
  ...SESSION_KEYS.map((key) => ({ name: `session.${key}`, detail: '' })),
];

/** The properties of the project come first, because they say more. */
export const knownFields = (names: Pick<Names, 'fields'> | undefined): readonly Name[] => [
  ...(names?.fields ?? []),
  ...LANGUAGE_FIELDS,
];

/**
 * Frequent values of a field, as it is written in a query: an alias has those of its field, and a
 * bare name, as in brackets and of users, those of the property. Empty when the catalog keeps none.
 */
export function knownValues({ events, values }: Pick<Names, 'events' | 'values'>, written: string): readonly string[] {
  const name = written.replace(/(?:^|(?<=\.))(["'])(.*)\1$/, '$2');
  if (name === 'event_type') return events.map((event) => event.name);
  const column = findEventField(name)?.column;
  const same = [...values.keys()].find((field) => column !== undefined && findEventField(field)?.column === column);
  const found = [same, name, `event_properties.${name}`, `user.${name}`].find(
    (field) => field !== undefined && values.has(field),
  );
  return values.get(found ?? '') ?? [];
}
