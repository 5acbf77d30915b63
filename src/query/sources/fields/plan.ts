// Plan of `fields`: how many events have each field, and the keys of properties.

import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { DISTINCT_ID, findEventField, PROPERTY_BAGS } from '../../fields.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { planAnswer } from '../../plan/answer.js';
import { alias, column, type Expression, type PropertyColumn, rowsOf } from '../../plan/expressions.js';
import { isPresentField } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, type Plan, select, step } from '../../plan/plan.js';
import { COUNTED_FIELDS } from './counted-fields.js';
import { BAGS, countKeys, keysByType, TYPES, withKeys } from './key-sets.js';

type FieldsQuery = Extract<ResolvedQuery, { kind: 'fields' }>;

const fieldNamed = (name: string): ResolvedField => {
  const field = findEventField(name);
  return field ? { kind: 'column', name, field } : { kind: 'distinct_id', name: DISTINCT_ID };
};

/** Per property map: its keys and in how many events each occurs. */
function countProperties(): Columns {
  const counted = BAGS.flatMap((bag) => {
    const column = (type: string): string => `${PROPERTY_BAGS[bag]}_${type}_counts`;
    return Object.entries(keysByType(bag)).map(([type, keys]) => [column(type), countKeys(keys, alias('events'))]);
  });
  return Object.fromEntries(counted);
}

/**
 * The fields are counted in a select of their own, without groups: counts for each set of keys take
 * several times as long. One row with all counts for the answer: events, one count per field, keys
 * of both property groups by type, and keys of profiles by type.
 */
export function planFields(query: FieldsQuery, context: PlanContext): Plan {
  const { selection, order } = query;
  const bySet = selectEvents(context, {
    selection,
    columns: { events: fn.count(), ...TYPES },
    groupBy: Object.keys(TYPES),
  });
  const counts = fn.array(...COUNTED_FIELDS.map((name) => fn.countIf(isPresentField(fieldNamed(name)))));
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'fields',
    select: select({
      columns: {
        total: fn.sum(alias('events')),
        counts: rowsOf(selectEvents(context, { selection, columns: { counts } })),
        ...countProperties(),
        profile_text_keys: profileKeys(context, 'props_str'),
        profile_number_keys: profileKeys(context, 'props_num'),
        profile_boolean_keys: profileKeys(context, 'props_bool'),
      },
      from: withKeys(step('events_by_types', bySet)),
    }),
    columns: [
      { name: 'field', type: 'text' },
      { name: 'type', type: 'text' },
      { name: 'category', type: 'text' },
      { name: 'events', type: 'number' },
      { name: 'coverage', type: 'percent' },
    ],
    presentation: { kind: 'fields', order, definitions: query.definitions },
  });
}

const profileKeys = ({ projectId }: PlanContext, map: PropertyColumn): Expression =>
  rowsOf(
    select({
      columns: { keys: fn.groupUniqArrayArray(fn.mapKeys(column(map))) },
      from: { kind: 'profiles', projectId, filter: [] },
    }),
  );
