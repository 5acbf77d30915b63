// Formats a question as query text, so that a test sends the text to the service and the value to
// the oracle.

import type {
  Aggregate,
  CallCondition,
  Condition,
  Ending,
  Events,
  Expression,
  Field,
  FormulaColumn,
  Group,
  Having,
  Literal,
  Question,
  Range,
  Reading,
} from './question.js';
import { COHORT } from './question.js';

const BARE_EVENT = /^[A-Za-z_][A-Za-z0-9_.:/$]*$/;
const BARE_KEY = /^[A-Za-z0-9_.$-]+$/;
const PREFIXES = [
  'event_properties.',
  'user_properties.',
  'user_last_session.',
  'user_first_session.',
  'session.',
  'user.',
];

/** Keywords that begin a stage or source; an event with such a name is quoted. */
const RESERVED = new Set(
  (
    'funnel retention paths sessions lifecycle stickiness user users formula fields inspect choice from to exclude ' +
    'returning where last today yesterday this count unique sum avg min max median p90 p95 p99 latest per by list ' +
    'sort limit top window depth results unit compare previous weekdays and or not in exists contains starts ends with asc desc true false any'
  ).split(' '),
);

export function toQueryText(question: Question): string {
  return [
    ...sourceOf(question),
    ...rangeOf(question.range),
    ...compareOf(question),
    ...whereOf(question),
    ...endOf(question),
    ...(question.unit === undefined ? [] : [`unit ${question.unit.map(fieldText).join(', ')}`]),
  ].join(' | ');
}

const cohortOf = ({ cohort }: Question): Field | undefined => cohort && COHORT;

/** The cohort of the question as the text of its definition. */
export const cohortText = ({ cohort = [] }: Question): string => ['*', ...whereOf({ where: cohort })].join(' | ');

function compareOf({ compare }: Question): string[] {
  if (compare === undefined) return [];
  if (compare.kind === 'from') return rangeOf(compare).map((range) => `compare ${range}`);
  return compare.kind === 'span' ? spanOf('compare', compare.span) : [`compare ${compare.kind}`];
}

function sourceOf(question: Question): string[] {
  switch (question.source) {
    case 'events':
    case 'latest':
      return [eventText(question.event)];
    case 'funnel': {
      const exclude = question.exclude.length === 0 ? '' : ` exclude ${question.exclude.map(eventText).join(', ')}`;
      return [`funnel ${question.steps.map(eventText).join(' -> ')}${exclude}`];
    }
    case 'retention':
      return [
        `retention ${eventText(question.event)}${question.returning ? ` returning ${eventText(question.returning)}` : ''}`,
      ];
    case 'paths':
      return [`paths ${question.direction} ${eventText(question.event)}`];
    case 'lifecycle':
    case 'stickiness':
    case 'inspect':
      return [`${question.source} ${eventText(question.event)}`];
    case 'user':
      return [`user ${quote(question.id)}`];
    case 'formula':
      return [`formula ${question.columns.map(columnText).join(', ')}`];
    case 'choice':
      return [`choice ${nameOf(question.choice)}`];
    default:
      return [question.source];
  }
}

function endOf(question: Question): string[] {
  switch (question.source) {
    case 'funnel':
      return [
        ...spanOf('window', question.window),
        ...(question.order === undefined ? [] : [`order ${question.order}`]),
        ...(question.times === 'all' ? ['times'] : spanOf('times', question.times)),
        ...byOf(question.period, question.by),
      ];
    case 'retention':
      return [
        ...(question.sum === undefined ? [] : [`sum ${fieldText(question.sum)}`]),
        ...byOf(question.period, question.by),
        ...(question.unbounded ? ['unbounded'] : []),
        ...(question.first ? ['first'] : []),
        ...spanOf('window', question.window),
      ];
    case 'paths':
      return [
        ...spanOf('window', question.window),
        ...(question.depth === undefined ? [] : [`depth ${question.depth}`]),
        ...byOf(question.by, cohortOf(question)),
        ...(question.limit === undefined ? [] : [`limit ${question.limit}`]),
      ];
    case 'lifecycle':
      return byOf(question.period, cohortOf(question));
    case 'formula':
      return [
        ...byGroups(question.by ?? []),
        ...(question.having ? [filterText(question.having)] : []),
        ...readingOf({ ...question, reading: undefined }),
      ];
    case 'latest': {
      const per = question.per === undefined ? '' : ` per ${fieldText(question.per)}`;
      return [`latest ${fieldText(question.field)}${per}`, ...readingOf(question)];
    }
    case 'choice': {
      if (question.results === undefined) return readingOf(question);
      const { event, value, cuped, guards = [], plan, window, unit } = question.results;
      return [
        `results ${value === undefined ? nameOf(event) : callText(value)}`,
        ...(value?.isWhole ? ['winsorize off'] : []),
        ...spanOf('cuped', cuped),
        ...(guards.length === 0 ? [] : [`guard ${guards.map(eventText).join(', ')}`]),
        ...(plan === undefined ? [] : [`plan ${plan}%`]),
        ...spanOf('window', window),
        ...(unit === undefined ? [] : [`unit ${fieldText(unit)}`]),
      ];
    }
    case 'stickiness':
      return byOf(cohortOf(question));
    case 'fields':
    case 'inspect':
      return [];
    default:
      return readingOf(question);
  }
}

function readingOf({ reading, ending }: { reading?: Reading | undefined; ending?: Ending }): string[] {
  const texts: string[] = [];
  if (reading?.kind === 'list') texts.push('list');
  if (reading?.kind === 'aggregate') {
    const { having, window, share, each } = reading;
    if (each) texts.push(`${aggregateText(each.aggregate)} per ${fieldText(each.per)}`);
    if (each?.having) texts.push(filterText(each.having));
    texts.push([aggregateText(reading.aggregate), ...byGroups(reading.by)].join(' '));
    if (window) texts.push(window.kind === 'rolling' ? `rolling ${window.days}d` : window.kind);
    if (share) texts.push('share');
    if (having !== undefined) texts.push(filterText(having));
  }
  if (ending?.kind === 'sort') {
    texts.push(`sort ${ending.column} ${ending.descending ? 'desc' : 'asc'}`);
    if (ending.limit !== undefined) texts.push(`limit ${ending.limit}`);
    if (ending.top !== undefined) texts.push(`top ${ending.top}${ending.other ? ' other' : ''}`);
  } else if (ending !== undefined) {
    texts.push(`${ending.kind} ${ending.count}${ending.kind === 'top' && ending.other ? ' other' : ''}`);
  }
  return texts;
}

const filterText = ({ column, operator, value }: Having): string => `where ${column} ${operator} ${value}`;

function aggregateText(aggregate: Aggregate): string {
  if (aggregate.kind === 'count' || aggregate.field === undefined) return aggregate.kind;
  return `${aggregate.kind} ${fieldText(aggregate.field)}`;
}

function byGroups(groups: readonly Group[]): string[] {
  return groups.length === 0 ? [] : [`by ${groups.map(groupText).join(', ')}`];
}

function groupText(group: Group): string {
  if (group.kind === 'bucket') return `bucket(${fieldText(group.field)}, ${group.width})`;
  return group.kind === 'time' && group.of !== undefined
    ? `${group.unit} of ${fieldText(group.of)}`
    : groupColumn(group);
}

/** A group column has the name that the query uses. */
export function groupColumn(group: Group): string {
  if (group.kind === 'bucket') return group.kind;
  return group.kind === 'time' ? group.unit : fieldText(group.field);
}

function byOf(...fields: (Field | undefined)[]): string[] {
  const written = fields.filter((field) => field !== undefined);
  return written.length === 0 ? [] : [`by ${written.map(fieldText).join(', ')}`];
}

function spanOf(stage: string, span: { count: number; unit: string } | undefined): string[] {
  return span === undefined ? [] : [`${stage} ${span.count}${span.unit}`];
}

function rangeOf(range: Range | undefined): string[] {
  if (range === undefined) return [];
  switch (range.kind) {
    case 'last':
      return spanOf('last', range.span);
    case 'from':
      return [`from ${range.from} to ${range.to}`];
    case 'this':
      return [`this ${range.unit}`];
    default:
      return [range.kind];
  }
}

function whereOf({ where = [] }: Pick<Question, 'where'>): string[] {
  return where.map((condition) => `where ${conditionText(condition)}`);
}

/** `and` binds tighter than `or`: only an `or` inside an `and` needs parentheses. */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'compare':
      return `${fieldText(condition.field)} ${condition.operator} ${literalText(condition.value)}`;
    case 'in': {
      const values = condition.values.map(literalText).join(', ');
      return `${fieldText(condition.field)} ${condition.negated ? 'not in' : 'in'} (${values})`;
    }
    case 'exists':
      return `${fieldText(condition.field)} ${condition.negated ? 'not exists' : 'exists'}`;
    case 'call':
      return `${callText(condition)} ${condition.operator} ${condition.value}`;
    case 'bound':
      throw new Error('a call with known values has no text');
    case 'or':
      return condition.terms.map(conditionText).join(' or ');
    case 'and':
      return condition.terms
        .map((term) => (term.kind === 'or' ? `(${conditionText(term)})` : conditionText(term)))
        .join(' and ');
  }
}

function columnText({ name, expression }: FormulaColumn): string {
  return name === undefined ? expressionOf(expression) : `${expressionOf(expression)} as ${name}`;
}

function expressionOf(expression: Expression): string {
  switch (expression.kind) {
    case 'number':
      return String(expression.value);
    case 'term':
      return callText(expression);
    case 'binary': {
      const { operator, left, right } = expression;
      const leftText = isLooser(left, operator) ? `(${expressionOf(left)})` : expressionOf(left);
      // All operators associate to the left, so an equal operator on the right keeps its
      // parentheses.
      const needsParentheses = right.kind === 'binary' && !isLooser(expression, right.operator);
      return `${leftText} ${operator} ${needsParentheses ? `(${expressionOf(right)})` : expressionOf(right)}`;
    }
  }
}

function callText({
  function: name,
  event,
  field,
  last,
  per,
}: Omit<CallCondition, 'kind' | 'operator' | 'value'>): string {
  const parts = [
    field === undefined ? '' : `, ${fieldText(field)}`,
    ...spanOf('last', last).map((text) => ` ${text}`),
    per === undefined ? '' : ` per ${fieldText(per)}`,
  ];
  return `${name}(${eventText(event)}${parts.join('')})`;
}

function isLooser(expression: Expression, operator: '+' | '-' | '*' | '/'): boolean {
  if (expression.kind !== 'binary') return false;
  return '+-'.includes(expression.operator) && '*/'.includes(operator);
}

export function fieldText(field: Field): string {
  const prefix = PREFIXES.find((candidate) => field.startsWith(candidate)) ?? '';
  const key = field.slice(prefix.length);
  return prefix + (BARE_KEY.test(key) ? key : quote(key));
}

/** Conditions of a match are joined with `and`. */
export function eventText(events: Events): string {
  if (events === null || typeof events === 'string') return nameOf(events);
  const texts = events.map(({ event, where }) => {
    if (where.length === 0) return nameOf(event);
    const [only, ...others] = where;
    return `${nameOf(event)}[${only && others.length === 0 ? conditionText(only) : conditionText({ kind: 'and', terms: where })}]`;
  });
  return texts.length === 1 && events[0]?.where.length !== 0 ? texts.join() : `(${texts.join(', ')})`;
}

function nameOf(name: string | null): string {
  if (name === null) return '*';
  return BARE_EVENT.test(name) && !RESERVED.has(name) ? name : quote(name);
}

function literalText(literal: Literal): string {
  return typeof literal === 'string' ? quote(literal) : String(literal);
}

function quote(text: string): string {
  const escaped = text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}
