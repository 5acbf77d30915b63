// Generators of the earlier ranges of `compare`, and the questions that take one.
import fc from 'fast-check';
import { ranges } from './generate-conditions.js';
import type * as ask from './question.js';
import type { Context } from './world.js';

/** Mostly none. */
export function earlierRanges(context: Context): fc.Arbitrary<ask.Comparison | undefined> {
  const spans = fc.constantFrom<ask.Span[]>(
    ...([
      { count: 90, unit: 'm' },
      { count: 1, unit: 'd' },
      { count: 1, unit: 'w' },
      { count: 1, unit: 'mo' },
      { count: 1, unit: 'y' },
    ] as const),
  );
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.constant<ask.Comparison>({ kind: 'previous' }) },
    fc.constant<ask.Comparison>({ kind: 'weekdays' }),
    spans.map((span): ask.Comparison => ({ kind: 'span', span })),
    ranges(context)
      .map((range) => (range?.kind === 'from' ? range : undefined))
      .filter((range) => range !== undefined),
  );
}

export function withComparison(question: ask.Question, compare: ask.Comparison | undefined): ask.Question {
  const reading = 'reading' in question && question.reading?.kind === 'aggregate' ? question.reading : undefined;
  if (compare === undefined || reading?.window || reading?.share || !isComparable(question) || isRefused(question)) {
    return question;
  }
  return { ...question, compare } as ask.Question;
}

function isComparable(question: ask.Question): boolean {
  switch (question.source) {
    case 'events':
      return question.reading?.kind !== 'list';
    case 'latest':
    case 'user':
      return question.reading?.kind === 'aggregate';
    case 'retention':
    case 'sessions':
    case 'formula':
      return true;
    case 'funnel':
      return question.times === undefined;
    case 'choice':
      return question.results === undefined;
    default:
      return false;
  }
}

/**
 * `top … other`, two time buckets, and `sum` and `window` of a retention do not go with `compare`.
 */
function isRefused(question: ask.Question): boolean {
  if (question.source === 'retention' && (question.sum !== undefined || question.window !== undefined)) return true;
  const { reading, ending } = { reading: undefined, ending: undefined, ...question };
  if (ending !== undefined && 'other' in ending && ending.other) return true;
  const by = question.source === 'formula' ? question.by : reading?.kind === 'aggregate' ? reading.by : undefined;
  return (
    (by ?? []).filter(
      (group) => group.kind === 'time' && group.of === undefined && !/weekday|hour_of_day/.test(group.unit),
    ).length > 1
  );
}
