// Plan of `latest`: the newest value per entity.
import type { EventSelection, Latest, ResolvedField, ResolvedQuery } from '../../analyze/resolved.js';
import { alias, call, column, tupleElement } from '../../plan/expressions.js';
import {
  actor,
  actorText,
  eventPosition,
  isNoText,
  isPresentField,
  readNumber,
  readText,
  timeText,
} from '../../plan/field-expressions.js';
import type { Expression, OrderBy, Plan, Select, SelectColumn } from '../../plan/plan.js';
import { listOrder, type PlanContext, pageOf, type RowsOver, scanEvents } from '../events/plan.js';

type LatestValues = Extract<ResolvedQuery, { kind: 'latest_values' }>;

/** Value of the newest event; of equal times the larger insert_id wins. */
const newest = (value: Expression): Expression => call('argMax', value, eventPosition);

/** Wrapped in a tuple, because argMax skips plain nulls. */
const newestOrNull = (value: Expression): Expression => tupleElement(newest(call('tuple', value)), 1);

/** The value as text, or as a time. */
function valueForm(field: ResolvedField): Expression {
  const { expression, type } = readText(field);
  return type === 'number' ? call('toString', expression) : expression;
}

const isTimeField = (field: ResolvedField): boolean => readText(field).type === 'time';

/** People are grouped by hash and shown by id. */
function planEntity(entity: ResolvedField): { key: Expression; shown: Expression; isThere: Expression } {
  if (entity.kind === 'distinct_id') {
    return { key: actor, shown: call('any', actorText), isThere: isPresentField(entity) };
  }
  const { expression, type } = readText(entity);
  const key = type === 'time' ? timeText(expression) : type === 'number' ? call('toString', expression) : expression;
  const isThere = type === 'nullable_text' ? call('isNotNull', expression) : isPresentField(entity);
  return { key, shown: call('any', key), isThere };
}

interface ValuesOf {
  readonly latest: Latest;
  readonly selection: EventSelection;
  /** The value in its own type, for lists. */
  readonly isShown: boolean;
}

const ENTITY = 'entity';

function selectValues(context: PlanContext, { latest, selection, isShown }: ValuesOf): Select {
  const { key, shown, isThere } = planEntity(latest.entity);
  const isPresent = isPresentField(latest.field);
  const columns: SelectColumn[] = [
    { alias: 'entity_key', expression: key },
    { alias: ENTITY, expression: shown },
    { alias: 'last_value', expression: newest(valueForm(latest.field)) },
    ...(isTimeField(latest.field)
      ? []
      : [{ alias: 'last_number', expression: newestOrNull(readNumber(latest.field)) }]),
    ...(isShown ? [{ alias: 'no_text', expression: newest(isNoText(latest.field)) }] : []),
    { alias: 'set_at', expression: call('max', column('time')) },
  ];
  const filter = [isPresent, isThere].filter((condition) => !isAlways(condition));
  const reads = columns.map((of) => of.expression);
  return {
    kind: 'select',
    columns,
    from: scanEvents(context, { selection, reads, filter }),
    groupBy: ['entity_key'],
  };
}

const isAlways = (condition: Expression): boolean => condition.kind === 'constant' && condition.value === 1;

/** Rows for a second aggregate. */
export const latestRows = (latest: Latest, selection: EventSelection, context: PlanContext): RowsOver => ({
  time: alias('set_at'),
  from: () => selectValues(context, { latest, selection, isShown: false }),
});

export function planLatestValues(query: LatestValues, context: PlanContext): Plan {
  const { latest, selection, order, rowsMax } = query;
  const page = pageOf(context, rowsMax);
  const byDefault: OrderBy[] = [{ expression: alias('set_at'), direction: 'desc' }];
  const orderBy = order.length > 0 ? order.flatMap(listOrder) : byDefault;
  const isTime = isTimeField(latest.field);
  const shown: Record<string, Expression> = isTime
    ? {}
    : { last_value: call('tuple', alias('last_value'), alias('no_text')) };
  return {
    mode: 'latest_aggregate',
    select: {
      kind: 'select',
      columns: [ENTITY, 'last_value', 'set_at'].map((name) => ({
        alias: name === 'last_value' ? 'shown_value' : name,
        expression: shown[name] ?? alias(name),
      })),
      from: selectValues(context, { latest, selection, isShown: !isTime }),
      orderBy: [...orderBy, { expression: alias(ENTITY), direction: 'asc' }],
      limit: page.limit,
      offset: page.offset,
    },
    columns: [
      { name: ENTITY, type: 'nullable_text' },
      { name: 'last_value', type: isTime ? 'time' : 'typed_text' },
      { name: 'set_at', type: 'time' },
    ],
    metric: { name: 'latest', column: 'last_value' },
    total: { kind: 'engine', rowsMax },
    rowsKept: page.kept,
    range: selection.range,
    timezone: query.timezone,
    warnings: query.warnings,
  };
}
