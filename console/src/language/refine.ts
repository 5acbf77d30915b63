// A query with one part more: what a click on a part of an answer means. Every result is undefined
// where the query does not take it.

import { OTHER } from '../../../src/query/analyze/other-groups.js';
import { parse } from '../../../src/query/parse/parse.js';
import type { Stage } from '../../../src/query/parse/syntax.js';
import type { Cell } from '../api/answer.js';
import { chipsOf } from './chips.js';
import { check, replaceSpan } from './language.js';
import { cellText, nameText } from './names.js';

/** A field of the answer with one of its values; null is a missing one. */
export type Value = readonly [field: string, value: Cell];

/** Filters for all of the values. */
export function withFilters(text: string, values: readonly Value[]): string | undefined {
  return values.reduce<string | undefined>(
    (filtered, [field, value]) => filtered && withFilter(filtered, field, value),
    text,
  );
}

export function withFilter(text: string, field: string, value: Cell): string | undefined {
  const insertion = chipsOf(text)?.insertions.filter;
  if (insertion === undefined) return undefined;
  const isScalar = typeof value !== 'object';
  const condition =
    value === null ? `${field} not exists` : `${field} = ${cellText(field, isScalar ? value : String(value))}`;
  return replaceSpan(text, { from: insertion.at, to: insertion.at }, `${insertion.before}${condition}`);
}

/** Whether values can be filtered by: the group `(other)` of `top … other` stands for many. */
export function filterableIn(text: string): (values: readonly Value[]) => boolean {
  const hasOther = parse(text).query.stages.some((stage) => stage.kind === 'top' && stage.withOther);
  return (values) => !hasOther || values.every(([, value]) => value !== OTHER);
}

export interface Sorted {
  readonly column: string;
  readonly isDescending: boolean;
}

type Sort = Extract<Stage, { kind: 'sort' }>;

const sortOf = (text: string): Sort | undefined =>
  parse(text).query.stages.findLast((stage): stage is Sort => stage.kind === 'sort');

/** The column by which the text sorts first, as the text says it. */
export function sortedBy(text: string): Sorted | undefined {
  const [first] = sortOf(text)?.keys ?? [];
  return first && { column: first.field.written, isDescending: first.direction === 'desc' };
}

/** Sorted by the column, descending first; the other way where it is sorted so already. */
export function withSort(text: string, column: string): string | undefined {
  const before = sortedBy(text);
  const isAgain = before?.column === column && before.isDescending;
  const stage = `sort ${column} ${isAgain ? 'asc' : 'desc'}`;
  const written = sortOf(text);
  return valid(written === undefined ? withStage(text, stage) : replaceSpan(text, written.span, stage));
}

/** The people behind a number: `people at 2` behind the other stages. */
export const withPeople = (text: string, people: string): string | undefined => valid(withStage(text, people));

/** Paths from another event. */
export function withAnchor(text: string, event: string): string | undefined {
  const { source } = parse(text).query;
  if (source === undefined || source === 'broken' || source.kind !== 'paths') return undefined;
  return valid(replaceSpan(text, source.anchor.span, nameText(event)));
}

function withStage(text: string, stage: string): string {
  const { source, stages } = parse(text).query;
  const spans = [...(source === undefined || source === 'broken' ? [] : [source]), ...stages].map(
    ({ span }) => span.to,
  );
  const end = Math.max(0, ...spans);
  return `${text.slice(0, end)} | ${stage}${text.slice(end)}`;
}

const valid = (text: string): string | undefined => (check(text, 'UTC').length === 0 ? text : undefined);
