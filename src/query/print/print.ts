// Printer: formats a plan as ClickHouse SQL with parameters. It makes no decisions and looks
// nothing up.
import { assertNever } from '../../platform/errors.js';
import type { TimeRange } from '../analyze/resolved.js';
import type { Expression, InfixOperator, ParameterType, ParameterValue } from '../plan/expressions.js';
import type { EventScan, Join, OrderBy, Select, Step, Union } from '../plan/plan.js';
import { block, brokenChain, chain, group, inline, lines, type Piece, word } from './layout.js';

export interface Statement {
  readonly sql: string;
  readonly params: Readonly<Record<string, ParameterValue>>;
}

export interface PrintedStatement extends Statement {
  readonly reads: Reads;
}

/** What a statement reads, which decides whether an answer to it still holds. */
export interface Reads {
  readonly tables: readonly ReadTable[];
  /** Ranges of the scans of events. */
  readonly ranges: readonly TimeRange[];
  /** Instants by name of parameter, of those that are nothing but ends of ranges of events. */
  readonly bounds: Readonly<Record<string, number>>;
}

export type ReadTable = 'events' | 'device_map' | 'profiles';

export function print(select: Select): PrintedStatement {
  const printer = new Printer();
  const main = printer.rows(select);
  const steps = [...printer.steps].map(([name, sql]) => word(`${name} AS (\n    ${sql}\n  )`));
  const sql = steps.length === 0 ? main : lines(block('WITH', steps, ',', ''), main);
  return { sql: sql.print(''), params: Object.fromEntries(printer.params), reads: printer.reads() };
}

// Operator precedence: an operator inside a tighter one needs parentheses.
const TIGHTNESS: Readonly<Record<InfixOperator, number>> = {
  OR: 1,
  AND: 2,
  '=': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  IN: 3,
  'NOT IN': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
};

const JOIN = { kept: 'LEFT ANY JOIN', 'left out': 'INNER JOIN' } as const;

const SQL_TYPE: Readonly<Record<ParameterType, string>> = {
  String: 'String',
  Float64: 'Float64',
  Int64: 'Int64',
  UInt64: 'UInt64',
  UUID: 'UUID',
  Time: "DateTime64(3, 'UTC')",
  'Array(String)': 'Array(String)',
  'Array(Float64)': 'Array(Float64)',
  'Array(Int64)': 'Array(Int64)',
  'Array(Time)': "Array(DateTime64(3, 'UTC'))",
};

const timeText = (ms: string | number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

const sqlValue = (type: ParameterType, value: ParameterValue): ParameterValue => {
  if (type === 'Time' || type === 'Array(Time)') {
    return typeof value === 'object' ? value.map(timeText) : timeText(value);
  }
  return value;
};

class Printer {
  readonly params = new Map<string, ParameterValue>();
  /** Printed steps by name, each after those that it reads. */
  readonly steps = new Map<string, string>();
  private readonly nameByValue = new Map<string, string>();
  private readonly tables = new Set<ReadTable>();
  private readonly ranges = new Map<string, TimeRange>();
  private readonly bounds = new Map<string, number>();
  /** Names of parameters that are used as a value. */
  private readonly values = new Set<string>();

  reads(): Reads {
    const bounds = [...this.bounds].filter(([name]) => !this.values.has(name));
    return { tables: [...this.tables], ranges: [...this.ranges.values()], bounds: Object.fromEntries(bounds) };
  }

  rows(rows: Select | Union): Piece {
    if (rows.kind === 'select') return this.select(rows);
    return lines(...rows.selects.flatMap((of, index) => [...(index > 0 ? [word('UNION ALL')] : []), this.select(of)]));
  }

  private select(select: Select): Piece {
    const from = this.from(select.from);
    const columns = Object.entries(select.columns).map(([alias, expression]) => {
      const sql = this.expression(expression);
      const isNamed = expression.kind === 'alias' || expression.kind === 'column';
      return isNamed && sql.print('') === alias ? sql : inline(sql, word(` AS ${alias}`));
    });
    if (select.keeps === 'all') columns.unshift(word('*'));
    const { where, groupBy = [], having, orderBy = [], fill, limit, offset = 0 } = select;
    const clauses = [list('SELECT ', columns), ...from];
    if (where) clauses.push(inline(word('WHERE '), this.expression(where)));
    if (groupBy.length > 0) clauses.push(word(`GROUP BY ${groupBy.join(', ')}`));
    if (having) clauses.push(inline(word('HAVING '), this.expression(having)));
    if (orderBy.length > 0) {
      clauses.push(
        list(
          'ORDER BY ',
          orderBy.map((of) => this.order(of)),
        ),
      );
    }
    if (fill) {
      const [start, end] = [this.expression(fill.from), this.expression(fill.to)];
      const distance = fill.step === undefined ? '1' : `INTERVAL ${fill.steps ?? 1} ${fill.step}`;
      clauses.push(inline(word('WITH FILL FROM '), start, word(' TO '), end, word(` STEP ${distance}`)));
    }
    if (limit !== undefined) clauses.push(word(`LIMIT ${this.bind('UInt64', limit)}`));
    if (offset > 0) clauses.push(word(`OFFSET ${this.bind('UInt64', offset)}`));
    return lines(...clauses);
  }

  private order({ expression, direction }: OrderBy): Piece {
    const sql = this.expression(expression);
    return direction === 'desc' ? inline(sql, word(' DESC')) : sql;
  }

  private from(from: Select['from']): Piece[] {
    switch (from?.kind) {
      case undefined:
        return [];
      case 'step':
        return [word(`FROM ${this.step(from)}`)];
      case 'events':
        return this.events(from);
      case 'matched': {
        const { rows, others, on } = from;
        const join = `RIGHT ANY JOIN ${this.step(rows)} ON ${on.other} = ${on.row}`;
        return [word(`FROM ${this.step(others)}`), word(join)];
      }
      case 'joined':
        return [word(`FROM ${this.step(from.rows)}`), ...this.joins([from.join])];
      case 'profiles':
        this.tables.add('profiles');
        return [word('FROM profiles FINAL'), ...this.joins(from.joins ?? []), this.where(from, [])];
      case 'device_map':
        this.tables.add('device_map');
        return [word('FROM device_map FINAL'), this.where(from, [])];
      default:
        return assertNever(from);
    }
  }

  /** Its name. Equal steps are printed once; a number tells other steps of the same name apart. */
  private step({ name, rows }: Step): string {
    const sql = this.rows(rows).print('    ');
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? name : `${name}_${number}`;
      const printed = this.steps.get(numbered);
      if (printed === sql) return numbered;
      if (printed !== undefined) continue;
      this.steps.set(numbered, sql);
      return numbered;
    }
  }

  private events(scan: EventScan): Piece[] {
    const joins = this.joins(scan.joins);
    const isOfHours = scan.time.kind === 'hours';
    const time = isOfHours ? 'toStartOfHour(time)' : 'time';
    const bind = (ms: number): string => (isOfHours ? this.bind('Time', ms) : this.bindBound(ms));
    this.tables.add('events');
    const ranges = scan.time.ranges.map((range) => {
      this.ranges.set(`${range.fromMs} ${range.toMs}`, range);
      return word(`${time} >= ${bind(range.fromMs)} AND ${time} < ${bind(range.toMs)}`);
    });
    const [only] = ranges;
    const anyRange = inline(
      word('(('),
      ...ranges.flatMap((of, index) => (index > 0 ? [word(') OR ('), of] : [of])),
      word('))'),
    );
    return [word('FROM events'), ...joins, this.where(scan, [only && ranges.length === 1 ? only : anyRange])];
  }

  private joins(joins: readonly Join[]): Piece[] {
    return joins.map(({ step, left, right, others }) =>
      inline(word(`${JOIN[others]} ${this.step(step)} ON `), this.expression(left), word(` = ${right}`)),
    );
  }

  private where(scan: Pick<EventScan, 'projectId' | 'filter'>, first: readonly Piece[]): Piece {
    const project = word(`project_id = ${this.bindAs('project_id', 'UUID', scan.projectId)}`);
    const filter = scan.filter.map((condition) => this.operand(condition, TIGHTNESS.OR));
    const conditions = [project, ...first, ...filter];
    return inline(word('WHERE '), brokenChain(conditions, 'AND'));
  }

  private bind(type: ParameterType, value: ParameterValue): string {
    const name = this.nameOf(type, value);
    this.values.add(name);
    return this.bindAs(name, type, value);
  }

  private bindBound(ms: number): string {
    const name = this.nameOf('Time', ms);
    this.bounds.set(name, ms);
    return this.bindAs(name, 'Time', ms);
  }

  private nameOf(type: ParameterType, value: ParameterValue): string {
    const identity = JSON.stringify([type, value]);
    const name = this.nameByValue.get(identity) ?? `p${this.nameByValue.size + 1}`;
    this.nameByValue.set(identity, name);
    return name;
  }

  private bindAs(name: string, type: ParameterType, value: ParameterValue): string {
    this.params.set(name, sqlValue(type, value));
    return `{${name}:${SQL_TYPE[type]}}`;
  }

  private operand(expression: Expression, tightness: number): Piece {
    const sql = this.expression(expression);
    return expression.kind === 'infix' && TIGHTNESS[expression.operator] <= tightness
      ? inline(word('('), sql, word(')'))
      : sql;
  }

  private expressions(expressions: readonly Expression[]): Piece[] {
    return expressions.map((expression) => this.expression(expression));
  }

  private expression(expression: Expression): Piece {
    switch (expression.kind) {
      case 'column':
        return word(expression.column);
      case 'mapped':
        return word(`mapped_${expression.column}`);
      case 'alias':
        return word(expression.alias);
      case 'profile_property':
        return word(expression.name);
      case 'call_value':
        return word(expression.call.name);
      case 'parameter':
        return word(
          expression.isBound ? this.bindBound(Number(expression.value)) : this.bind(expression.type, expression.value),
        );
      case 'constant':
        return word(isQuoted(expression.value) ? `'${expression.value}'` : String(expression.value));
      case 'list':
        return group('(', this.expressions(expression.items), ')');
      case 'rows':
        if (expression.of.kind === 'step') return word(this.step(expression.of));
        return block('(', [this.rows(expression.of)], '', ')');
      case 'lambda':
        return inline(word(`(${expression.parameters.join(', ')}) -> `), this.expression(expression.body));
      case 'element':
        return inline(this.expression(expression.of), word('['), this.expression(expression.at), word(']'));
      case 'tuple_element':
        return inline(this.expression(expression.of), word(`.${expression.position}`));
      case 'over_all':
        return inline(this.expression(expression.of), word(' OVER ()'));
      case 'row_number': {
        const order = expression.orderBy.map((of) => this.order(of));
        return inline(word('row_number() OVER (ORDER BY '), group('', order, ''), word(')'));
      }
      case 'infix': {
        const { operator, operands } = expression;
        const sql = operands.map((operand) => this.operand(operand, TIGHTNESS[operator]));
        // The rows after IN start on its line.
        const [value, values] = sql;
        if (operator.endsWith('IN') && value && values) return inline(value, word(` ${operator} `), values);
        return chain(sql, operator);
      }
      case 'call': {
        const settings = expression.settings === undefined ? '' : `(${expression.settings.join(', ')})`;
        return group(
          `${expression.name}${expression.suffix ?? ''}${settings}(`,
          this.expressions(expression.arguments),
          ')',
        );
      }
      default:
        return assertNever(expression);
    }
  }
}

const isQuoted = (value: string | number): boolean => value === '' || value === 'true' || value === 'false';

/** One item on the line of its keyword, several on lines of their own. */
const list = (keyword: string, items: readonly Piece[]): Piece =>
  items.length === 1 ? inline(word(keyword), ...items) : block(keyword.trimEnd(), items, ',', '');
