// Data of charts over buckets: labels, and a line of values for each series.
import { max, min } from 'd3-array';
import type { Part } from '../answer/buckets.js';
import type { Cell } from '../api/answer.js';

export interface Bucket {
  readonly short: string;
  readonly long: string;
  /** Set when the period covers the bucket only in part. */
  readonly part: Part;
}

export interface Series {
  readonly name: string;
  /** Groups of the answer that a filter for the series consists of. */
  readonly cells?: readonly (readonly [field: string, cell: Cell])[];
  readonly values: readonly (number | null)[];
  /** Values of the earlier range of `compare`, at the same positions. */
  readonly previous?: readonly (number | null)[] | undefined;
}

/** A moment that explains a change of the numbers, at a bucket. */
export interface Annotation {
  readonly bucket: number;
  readonly when: string;
  readonly text: string;
}

export interface BucketData {
  readonly buckets: readonly Bucket[];
  readonly annotations?: readonly Annotation[];
  readonly series: readonly Series[];
  /** Formats a value of an axis, whose largest and whose step decide on the unit of all. */
  readonly short: (value: number, most: number, step: number) => string;
  /** Formats the value under the pointer. */
  readonly long: (value: number) => string;
}

export const colorOf = (index: number): string => `var(--series-${(index % 8) + 1})`;

/** What the value axis covers: the values, and zero, from which columns and areas are drawn. */
export function valueDomain(values: readonly number[]): [number, number] {
  const [least, most] = [Math.min(0, min(values) ?? 0), Math.max(0, max(values) ?? 0)];
  return least === most ? [0, 1] : [least, most];
}

/** Least space of a label, and that of a letter, in pixels. */
const LABEL_PIXELS = 72;
export const LETTER_PIXELS = 7;

/**
 * Every n-th bucket is labelled, counted from the last. The last label ends at its bucket, the one
 * before has its middle there: one and a half labels must fit between them. Where only the last one
 * would fit, the first bucket is labelled as well: its label begins there.
 */
export function labelEvery(labels: readonly string[], width: number): number {
  const longest = labels.reduce((most, { length }) => Math.max(most, length * LETTER_PIXELS), 0);
  const count = Math.floor(width / Math.max(longest * 1.5, LABEL_PIXELS));
  if (count < 2 && width >= 2 * longest) return Math.max(1, labels.length - 1);
  return Math.max(1, Math.ceil(labels.length / Math.max(1, count)));
}

/** Only the whole ones where all values are whole: there is no fifth of an event. */
export function ticksOf({ series }: Pick<BucketData, 'series'>, ticks: readonly number[]): readonly number[] {
  const values = series.flatMap((each) => [...each.values, ...(each.previous ?? [])]);
  const isWhole = values.every((value) => value === null || Number.isInteger(value));
  return ticks.filter((value) => !isWhole || Number.isInteger(value));
}
