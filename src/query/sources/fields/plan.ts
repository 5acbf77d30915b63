// Plan of `fields`: how many events have each field, and the keys of properties.

import type { ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { DISTINCT_ID, EVENT_FIELD_NAMES, findEventField, PROPERTY_BAGS } from '../../fields.js';
import { alias, call, column, constant, infix, lambda } from '../../plan/expressions.js';
import { isPresentField } from '../../plan/field-expressions.js';
import type { Expression, Plan, PropertyColumn, Select, SelectColumn } from '../../plan/plan.js';
import { type PlanContext, pageOf, scanEvents } from '../events/plan.js';
import { BAGS, countKeys, keySet, keySets, keysOf, valuesOf, withoutTexts } from './key-sets.js';

type FieldsQuery = Extract<ResolvedQuery, { kind: 'fields' }>;

/** Keys without empty texts. */
const textKeys = (map: PropertyColumn): Expression =>
  call('arrayFilter', lambda(['k', 'v'], infix('!=', alias('v'), constant(''))), keysOf(map), valuesOf(map));

const fieldNamed = (name: string): ResolvedField => {
  const field = findEventField(name);
  return field ? { kind: 'column', name, field } : { kind: 'distinct_id', name: DISTINCT_ID };
};

/**
 * One row with all counts for the answer: events, one count per field, keys of both property groups by type, and keys of
 * profiles by type.
 */
export function planFields(query: FieldsQuery, context: PlanContext): Plan {
  const { selection, rowsMax } = query;
  const sets = keySets(textKeys);
  const counts = EVENT_FIELD_NAMES.map((name) => call('countIf', isPresentField(fieldNamed(name))));
  const columns: SelectColumn[] = [
    { alias: 'events', expression: call('count') },
    { alias: 'with_session', expression: call('countIf', infix('!=', column('session_id'), constant(''))) },
    { alias: 'with_field', expression: call('array', ...counts) },
    ...sets,
  ];
  const bySet: Select = {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads: columns.map((of) => of.expression) }),
    groupBy: sets.map((of) => of.alias),
  };
  const page = pageOf(context, rowsMax);
  return {
    mode: 'fields',
    select: {
      kind: 'select',
      columns: [
        { alias: 'total', expression: call('sum', alias('events')) },
        { alias: 'in_sessions', expression: call('sum', alias('with_session')) },
        { alias: 'counts', expression: call('sumForEach', alias('with_field')) },
        ...BAGS.flatMap((bag) => {
          const texts = alias(keySet(bag, 'texts'));
          const numbers = withoutTexts(alias(keySet(bag, 'numbers')), texts);
          return [texts, numbers, alias(keySet(bag, 'booleans'))].map((keys, index) => ({
            alias: `${PROPERTY_BAGS[bag]}_${index}`,
            expression: countKeys(keys, alias('events')),
          }));
        }),
        ...(['props_str', 'props_num', 'props_bool'] as const).map((map) => ({
          alias: `${map}_keys`,
          expression: profileKeys(context, map),
        })),
      ],
      from: bySet,
    },
    columns: [
      { name: 'field', type: 'text' },
      { name: 'type', type: 'text' },
      { name: 'category', type: 'text' },
      { name: 'events', type: 'number' },
      { name: 'coverage', type: 'percent' },
    ],
    metric: undefined,
    presentation: { kind: 'fields', order: query.order },
    total: { kind: 'engine', rowsMax },
    rowsKept: page.kept,
    range: selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}

const profileKeys = ({ projectId }: PlanContext, map: PropertyColumn): Expression => ({
  kind: 'subselect',
  select: {
    kind: 'select',
    columns: [{ alias: 'keys', expression: call('groupUniqArrayArray', keysOf(map)) }],
    from: { kind: 'profiles', projectId, filter: [] },
  },
});
