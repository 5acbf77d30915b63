// Plan of `latest`: the newest value per entity.
import type { EventSelection, Latest, ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { orderBy, planAnswer } from '../../plan/answer.js';
import { planEntity } from '../../plan/entity.js';
import { alias, column, type Expression, isTrue, tupleElement } from '../../plan/expressions.js';
import { eventPosition, isNoText, isPresentField, readNumber, readText } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Plan, type Step, select, step } from '../../plan/plan.js';
import { type AggregatedRows, listOrder } from '../events/plan.js';

type LatestValues = Extract<ResolvedQuery, { kind: 'latest_values' }>;

/** Value of the newest event; of equal times the larger insert_id wins. */
const newest = (value: Expression): Expression => fn.argMax(value, eventPosition);

/** Wrapped in a tuple, because argMax skips plain nulls. */
const newestOrNull = (value: Expression): Expression => tupleElement(newest(fn.tuple(value)), 1);

/** The value as text, or as a time. */
function valueForm(field: ResolvedField): Expression {
  const { expression, type } = readText(field);
  return type === 'number' ? fn.toString(expression) : expression;
}

const isTimeField = (field: ResolvedField): boolean => readText(field).type === 'time';

interface ValuesOf {
  readonly latest: Latest;
  readonly selection: EventSelection;
  /** The value in its own type, for lists. */
  readonly isShown: boolean;
}

const ENTITY = 'entity';

function planValues(context: PlanContext, { latest, selection, isShown }: ValuesOf): Step {
  const { entity, field } = latest;
  const { key, shown, isThere } = planEntity(entity);
  const rows = selectEvents(context, {
    selection,
    columns: {
      entity_key: key,
      [ENTITY]: shown,
      last_value: newest(valueForm(field)),
      ...(!isTimeField(field) && { last_number: newestOrNull(readNumber(field)) }),
      ...(isShown && { no_text: newest(isNoText(field)) }),
      set_at: fn.max(column('time')),
    },
    filter: [isPresentField(field), isThere].filter((condition) => !isTrue(condition)),
    groupBy: ['entity_key'],
  });
  return step('latest_values', rows);
}

/** Rows for a second aggregate. */
export const latestRows = (latest: Latest, selection: EventSelection, context: PlanContext): AggregatedRows => ({
  time: alias('set_at'),
  from: () => planValues(context, { latest, selection, isShown: false }),
});

export function planLatestValues(query: LatestValues, context: PlanContext): Plan {
  const { latest, selection, order } = query;
  const byValue = order.length > 0 ? order.flatMap(listOrder) : [orderBy('set_at', 'desc')];
  const isTime = isTimeField(latest.field);
  const value = alias('last_value');
  return planAnswer({
    query,
    range: selection.range,
    context,
    mode: 'latest_aggregate',
    metric: { name: 'latest', column: 'last_value' },
    select: select({
      columns: {
        [ENTITY]: alias(ENTITY),
        shown_value: isTime ? value : fn.tuple(value, alias('no_text')),
        set_at: alias('set_at'),
      },
      from: planValues(context, { latest, selection, isShown: !isTime }),
      orderBy: [...byValue, orderBy(ENTITY)],
    }),
    columns: [
      { name: ENTITY, type: 'nullable_text' },
      { name: 'last_value', type: isTime ? 'time' : 'typed_text' },
      { name: 'set_at', type: 'time' },
    ],
  });
}
