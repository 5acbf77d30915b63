// Resolves a list of rows (events, profiles): its columns and its order.
import { quote } from '../errors.js';
import type { PropertyBag } from '../fields.js';
import { isDefined } from '../is-defined.js';
import type { FieldName, StageOf } from '../parse/syntax.js';
import type { AnswerOrder } from './answer-order.js';
import { isTimeField, resolveField } from './resolve-field.js';
import type { EventSelection, ListColumn, ListOrder, ResolvedField, Rows } from './resolved.js';
import { report, reportBeforeSyntax, type Scope } from './scope.js';
import type { StageReader } from './stage-reader.js';

export interface ListQuery extends Omit<AnswerOrder, 'order'> {
  readonly kind: 'list';
  readonly mode?: string | undefined;
  readonly rows?: Rows | undefined;
  readonly selection: EventSelection;
  readonly columns: readonly ListColumn[];
  readonly order: readonly ListOrder[];
}

/** What a list of these rows shows, when the query does not say. */
export interface ListDefaults {
  readonly columns: readonly ListColumn[];
  readonly order: ListOrder;
  /** Property maps that are columns, by name. */
  readonly bags: Readonly<Record<string, PropertyBag | 'user'>>;
}

interface ListParts extends Pick<ListQuery, 'mode' | 'rows' | 'selection'> {
  readonly list: StageOf<'list'> | undefined;
  readonly defaults: ListDefaults;
}

export function takeList(scope: Scope, stages: StageReader, parts: ListParts): ListQuery {
  const { list, defaults, ...of } = parts;
  const fields = list?.fields ?? [];
  const sort = stages.takeOne('sort');
  const size = stages.takeSize();
  if (size?.kind === 'top') {
    reportBeforeSyntax(scope, {
      span: size.span,
      message: 'top does not go with list, which has no metric',
      hint: `write sort and limit: sort ${defaults.order.field.name} desc | limit 10`,
    });
  }
  const columns = fields.map((name) => resolveColumn(scope, name, defaults)).filter(isDefined);
  return {
    kind: 'list',
    ...of,
    columns: fields.length > 0 ? columns : defaults.columns,
    order: sort
      ? sort.keys.flatMap(({ field: name, direction }) => {
          const isAlone = direction === undefined && /^(?:asc|desc)$/i.test(name.written);
          const field = isAlone ? reportAlone(scope, name, defaults) : resolveField(scope, name);
          return field ? [{ direction: direction ?? (isTimeField(field) ? 'desc' : 'asc'), field }] : [];
        })
      : [defaults.order],
    rowsMax: size && stages.countOf(size),
  };
}

/** A direction without a column. Profiles may have a field of that name, which needs no prefix. */
function reportAlone(scope: Scope, name: FieldName, { order }: ListDefaults): ResolvedField | undefined {
  if (scope.findField) return resolveField(scope, name);
  const column = `${order.field.name} ${name.written.toLowerCase()}`;
  return report(scope, name.span, `sort has no column before ${quote(name.written)}`, `write sort ${column}`, column);
}

function resolveColumn(scope: Scope, name: FieldName, { bags }: ListDefaults): ListColumn | undefined {
  const bag = Object.hasOwn(bags, name.path) ? bags[name.path] : undefined;
  if (bag) return { kind: 'properties', name: name.written, bag };
  const field = resolveField(scope, name);
  return field && { kind: 'field', name: name.written, field };
}
