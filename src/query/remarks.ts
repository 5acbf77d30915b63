// Remarks of the text formats, which have no metadata.
import type { Cell } from './cell.js';

/** Columns that name a row, with its values. */
type Row = Readonly<Record<string, Cell>>;

interface Times {
  readonly partial?: readonly Row[];
  readonly incomplete?: readonly Row[];
  readonly incomplete_from?: unknown;
}

/** Metadata of an answer. */
export interface Remarkable extends Times {
  readonly unit?: string;
  readonly without_unit?: number;
  readonly window_seconds?: number;
  readonly granularity?: string;
  readonly people_of?: unknown;
  readonly annotations?: readonly { readonly at: string; readonly text: string }[];
}

const REMARKED_MAX = 12;

/** For each metadata that an answer may have. */
export function remarksOn(metadata: Remarkable): string[] {
  const { unit, without_unit: without, people_of: period, annotations = [], ...times } = metadata;
  const { window_seconds: window, granularity } = metadata;
  const ofWindow = window === undefined ? [] : [`Window: ${lengthText(window)}.`];
  const ofPeriods = granularity === undefined ? [] : [`Each period is a ${granularity}.`];
  const ofUnit = unit === undefined ? [] : [`Unit: ${unit}. Events without it, which are left out: ${without}.`];
  const ofPeople = period === undefined ? [] : [`People of the period that begins on ${period}.`];
  const noted = annotations.map(({ at, text }) => `Annotation ${at}: ${text}`);
  return [...ofWindow, ...ofPeriods, ...ofUnit, ...ofPeople, ...remarksOnTimes(times), ...noted];
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** 5,400 → `90 minutes`: in the largest unit of which it is a whole number. */
function lengthText(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? ['second', 1];
  const count = seconds / size;
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

function remarksOnTimes({ partial = [], ...times }: Times): string[] {
  if (partial.length === 0) return remarksOnIncomplete(times);
  const named = partial.flatMap((row) => Object.values(row)).join(', ');
  return [`Partial ${Object.keys(partial[0] ?? {}).join()}: ${named}.`, ...remarksOnIncomplete(times)];
}

function remarksOnIncomplete({ incomplete = [], incomplete_from: from }: Times): string[] {
  if (from !== undefined) return [`Not over yet: attempts from ${from} on.`];
  if (incomplete.length === 0) return [];
  const named = incomplete.slice(0, REMARKED_MAX).map((row) =>
    Object.values(row)
      .map((cell) => cell ?? '(none)')
      .join(', '),
  );
  const more = incomplete.length > REMARKED_MAX ? `; and ${incomplete.length - REMARKED_MAX} more` : '';
  return [`Not over yet (${Object.keys(incomplete[0] ?? {}).join(', ')}): ${named.join('; ')}${more}.`];
}
