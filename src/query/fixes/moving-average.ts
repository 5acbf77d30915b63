// Fix of a moving average of counts or sums by day. `rolling` has no average of days, so the fix is
// a formula: the days that end with each bucket, divided by their number.
import type { Span } from '../errors.js';
import { partsOf } from '../parse/scan.js';
import type { Fix } from './suggest.js';

const AVERAGE = '(?:average|avg|mean)';
const DAYS = String.raw`(\d{1,3})[\s-]*d(?:ays?)?`;
const MOVING = new RegExp(
  String.raw`^(?:(?:moving|rolling|trailing)\s+${AVERAGE}\s+${DAYS}|${DAYS}\s+(?:moving|rolling|trailing)\s+${AVERAGE})$`,
  'i',
);
const BY_DAY = /^(?:count|sum\s+([\w.]+))\s+by\s+day$/i;

/** `signup | count by day | moving average 7d`, as one replacement of the whole text. */
export function movingAverage(text: string, part: Span): Fix[] {
  // A comment would be lost.
  if (text.includes('#')) return [];
  const parts = partsOf(text);
  const written = parts.map(({ from, to }) => text.slice(from, to));
  const [source = '', ...stages] = written;
  const moving = text.slice(part.from, part.to);
  const [, before, after] = MOVING.exec(moving) ?? [];
  const days = before ?? after;
  const aggregate = stages.find((stage) => BY_DAY.test(stage));
  const [first, last] = [parts[0], parts.at(-1)];
  if (days === undefined || aggregate === undefined || !first || !last) return [];
  const field = BY_DAY.exec(aggregate)?.[1];
  const call = field === undefined ? `count(${source} last ${days}d)` : `sum(${source}, ${field} last ${days}d)`;
  const rest = stages.filter((stage) => stage !== aggregate && stage !== moving);
  const fixed = [`formula ${call} / ${days} by day`, ...rest].join(' | ');
  return [{ span: { from: first.from, to: last.to }, text: fixed }];
}
