// A SQL `select` as a query: its table is the source, and each of its clauses a stage.
import { columnOfAggregate } from '../metric-words.js';
import { takeRecent } from './past.js';

const SELECT =
  /^\s*select\s+(.+?)\s+from\s+(\S+?)(?:\s+where\s+(.+?))?(?:\s+group\s+by\s+(.+?))?(?:\s+having\s+(.+?))?(?:\s+order\s+by\s+(.+?))?(?:\s+limit\s+(\d+))?\s*;?\s*$/i;
const ALIAS = /(?:\s+as\s+|(?<=[\w)])(?<!^distinct)\s+)(\w+)$/i;
/** A column, or all of them. */
const COLUMN = /^(?:[\w.]+|\*)$/;
/** One call, with nothing behind it. */
const CALL = /^\w+\s*\([^()]*\)$/;
const ALL_EVENTS = /^(events?|\*)$/i;
const DAY = /^(?:date|day|todate|tostartofday)\s*\(\s*\w+\s*\)$/i;
const PERIOD = /^(?:date_trunc\s*\(\s*["'](\w+)["']\s*,\s*\w+\s*\)|tostartof(\w+)\s*\(\s*\w+\s*\))$/i;

/** Empty when it has a form that no query has: a query has one aggregate, and its groups. */
export function selectOf(text: string): string {
  const [, what = '', table = '', where, group, having, order, limit] = SELECT.exec(text.replace(/\s+/g, ' ')) ?? [];
  if (table === '') return '';
  const columns = splitList(what).map((column) => column.replace(ALIAS, ''));
  const names = splitList(what).map((column) => ALIAS.exec(column)?.[1]);
  /** The column of a number, or of a name that the statement gives it. */
  const columnOf = (by: string): string => columns[Number(by) - 1] ?? columns[names.indexOf(by)] ?? by;
  const groups = group && splitList(group).map((by) => groupOf(columnOf(by)));
  const measures = columns.filter((column) => column.includes('(') && !groups?.includes(groupOf(column)));
  const [measure] = measures;
  const others = columns.filter((column) => column !== measure && !groups?.includes(groupOf(column)));
  const isList = measure === undefined && groups === undefined && others.every((column) => COLUMN.test(column));
  if (!isList && (measures.length !== 1 || others.length > 0 || !CALL.test(measure ?? ''))) return '';
  const aggregate = measure === undefined ? listOf(others) : aggregateOf(measure);
  /** A clause that begins with the aggregate, or with the name that the statement gives it. */
  const withMetric = (clause: string): string =>
    clause.replace(/^\w+(?:\s*\([^)]*\))?/, (written) => {
      const by = columnOf(written);
      if (groups?.includes(groupOf(by))) return groupOf(by);
      return by === measure || by.includes('(') ? columnOfAggregate(aggregate) : by;
    });
  const { last, rest } = takeRecent(where ?? '');
  const stages = [
    ...(last ? [last] : []),
    ...(rest ? [`where ${rest.trim()}`] : []),
    `${aggregate}${groups ? ` by ${groups.join(', ')}` : ''}`,
    ...(having ? [`where ${withMetric(having)}`] : []),
    ...(order ? [`sort ${splitList(order).map(withMetric).map(withDirection).join(', ')}`] : []),
    ...(limit ? [`limit ${limit}`] : []),
  ];
  return [ALL_EVENTS.test(table) ? '*' : table, ...stages].join(' | ');
}

/** As in a statement, while `sort` alone is descending for numbers and times. */
const withDirection = (key: string): string => (/\s(?:asc|desc)$/i.test(key) ? key : `${key} asc`);

const listOf = (columns: readonly string[]): string => (columns.includes('*') ? 'list' : `list ${columns.join(', ')}`);

/** The parts between commas outside parentheses. */
const splitList = (text: string): string[] => text.split(/,(?![^(]*\))/).map((part) => part.trim());

function aggregateOf(column: string): string {
  const distinct = /^count\s*\(\s*distinct\s+(.+?)\s*\)$/i.exec(column)?.[1];
  if (distinct) return `unique ${distinct}`;
  const call = /^(\w+)\s*\(\s*(.*?)\s*\)/.exec(column);
  if (call?.[1]?.toLowerCase() === 'count') return 'count';
  return call ? `${call[1]?.toLowerCase()} ${call[2]}` : 'count';
}

function groupOf(by: string): string {
  if (DAY.test(by)) return 'day';
  const period = PERIOD.exec(by);
  return (period?.[1] ?? period?.[2])?.toLowerCase() ?? by;
}
