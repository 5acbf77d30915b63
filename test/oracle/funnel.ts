// Reference implementation of funnels: conversion through steps.
import { quantile, ratio } from './aggregate.js';
import {
  bucketAfter,
  bucketOf,
  bucketsOf,
  DAY,
  HOUR,
  type Interval,
  intervalOf,
  lengthOf,
  MINUTE,
  startOfDate,
} from './calendar.js';
import { eventsOf, type IsOf, isOneOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Condition, Events, FunnelQuestion, Literal, Match } from './question.js';
import { type Answer, compareCells, inThisOrder, type Row } from './table.js';
import { eventText, fieldText } from './to-query-text.js';
import { textOf } from './values.js';
import { byPerson, compareEvents, type World } from './world.js';

/** An attempt of one person: its first event, and the time of each step reached. */
export interface Attempt {
  readonly start: Event;
  readonly times: readonly number[];
}

export function answerFunnel(question: FunnelQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const { timezone, now } = world.clock;
  const { by, period } = question;
  const names = question.steps.map(stepName);
  const window = lengthOf(question.window ?? { count: 1, unit: 'h' });
  const valueAt = (event: Event) => (by === undefined ? null : (textOf(eventField(world)(event, by)) ?? null));
  const bucketOfStart = ({ start }: Attempt) => (period === undefined ? '' : bucketOf(start.time, period, timezone));
  const counted: Attempt[] = [];
  for (const attempts of attemptsOf(question, interval, world)) {
    for (const bucket of new Set(attempts.map(bucketOfStart))) {
      counted.push(bestOf(attempts.filter((attempt) => bucketOfStart(attempt) === bucket)));
    }
  }
  const buckets = period === undefined ? [''] : bucketsOf(interval, period, timezone);
  const rows = buckets.flatMap((bucket) => {
    const own = counted.filter((attempt) => bucketOfStart(attempt) === bucket);
    const inBucket = period === undefined ? {} : { [period]: bucket };
    if (by === undefined) return reportRows(question, names, own).map((row) => ({ ...inBucket, ...row }));
    return blocks(own, valueAt).flatMap(([value, group]) =>
      reportRows(question, names, group).map((row) => ({ ...inBucket, [fieldText(by)]: value, ...row })),
    );
  });
  const groups = [...(period === undefined ? [] : [period]), ...(by === undefined ? [] : [fieldText(by)])];
  // A bucket is incomplete when an attempt at its end could go on.
  const bound = Math.min(interval.end, now);
  const incomplete_from = buckets.find(
    (bucket) => period !== undefined && startOfDate(bucketAfter(bucket, period), timezone) + window > bound,
  );
  const beside = {
    metadata: { funnel_steps: names, window_seconds: window / 1000, ...(incomplete_from && { incomplete_from }) },
  };
  return { mode: 'funnel', columns: [...groups, ...reportColumns(question)], beside, ...inThisOrder(rows) };
}

/** All attempts of each person who made one, in the order of their start. */
export function attemptsOf(question: FunnelQuestion, interval: Interval, world: World): Attempt[][] {
  const steps = question.steps.map((step) => isOneOf(world, step));
  const isExcluded = question.exclude.map((excluded) => isOneOf(world, excluded));
  const names = question.steps.map(stepName);
  const isByPosition = names.some((name, index) =>
    names.some((other, at) => at < index && name !== other && mayOverlap(question.steps[index], question.steps[at])),
  );
  const window = lengthOf(question.window ?? { count: 1, unit: 'h' });
  const people = byPerson(world, eventsOf(world, null, interval, question.where)).values();
  return [...people]
    .map((own) => {
      const relevant = own.filter((event) => steps.some((isStep) => isStep(event)));
      const excluded = own.filter((event) => isExcluded.some((isOf) => isOf(event)));
      if (question.order === 'any') return anyOrderAttempts(byNeed(relevant, names, steps), steps, window);
      if (question.order === 'strict') return strictAttempts({ events: own, steps, excluded, window });
      const ordered = isByPosition ? inOrderOfSteps(relevant, names, steps) : relevant;
      return ordered
        .filter((event) => steps[0]?.(event))
        .map((start) => attemptFrom(start, { events: ordered, steps, excluded, window, isByPosition }))
        .map(([start, ...later]) => ({ start, times: [start, ...later].map((event) => event.time) }));
    })
    .filter((attempts) => attempts.length > 0);
}

/**
 * Reading: the steps take events in their written order, each the first event since the start that
 * no step before it has taken.
 */
function anyOrderAttempts(events: readonly Event[], steps: readonly IsOf[], window: number): Attempt[] {
  return [...events].sort(compareEvents).map((start) => {
    const within = events.filter((event) => event.time >= start.time && event.time <= start.time + window);
    const taken: Event[] = [];
    for (const isStep of steps) {
      const found = within.find((event) => isStep(event) && !taken.includes(event));
      if (found !== undefined) taken.push(found);
    }
    return { start, times: taken.map((event) => event.time).sort((a, b) => a - b) };
  });
}

/** The next step is the next event of the person, when no other event has its time. */
function strictAttempts({ events, steps, excluded, window }: Omit<Attempted, 'isByPosition'>): Attempt[] {
  return events
    .filter((event) => steps[0]?.(event))
    .map((start) => {
      const attempt = [start];
      for (const isStep of steps.slice(1)) {
        const last = attempt.at(-1) ?? start;
        const rest = events.filter((event) => event.time >= last.time && !attempt.includes(event));
        const soonest = Math.min(...rest.map((event) => event.time));
        const [next, ...others] = rest.filter((event) => event.time === soonest);
        if (next === undefined || others.length > 0 || !isStep(next)) break;
        if (next.time > start.time + window || excluded.includes(next)) break;
        attempt.push(next);
      }
      return { start, times: attempt.map((event) => event.time) };
    });
}

/**
 * The one that reached the most steps; among equals the earliest start (reading: then the smaller
 * insert_id).
 */
export function bestOf(attempts: readonly Attempt[]): Attempt {
  return attempts.reduce((best, attempt) => (attempt.times.length > best.times.length ? attempt : best));
}

interface Attempted {
  readonly events: readonly Event[];
  readonly steps: readonly IsOf[];
  readonly excluded: readonly Event[];
  readonly window: number;
  readonly isByPosition: boolean;
}

/** The name of a step is its text in the query, with single blanks. */
export const stepName = (step: Events): string =>
  typeof step === 'string' ? step : eventText(step).replace(/\s+/g, ' ');

/**
 * Reading: steps may overlap unless their types differ, or both require different values of one
 * field.
 */
function mayOverlap(one: Events | undefined, other: Events | undefined): boolean {
  const [left, right] = [matchesOf(one), matchesOf(other)];
  const sharesType = left.some((a) => right.some((b) => a.event === null || b.event === null || a.event === b.event));
  if (!sharesType || left.length > 1 || right.length > 1) return sharesType;
  return !(left[0]?.where ?? [])
    .flatMap(requiredValues)
    .some(([field, values]) =>
      (right[0]?.where ?? [])
        .flatMap(requiredValues)
        .some(([otherField, others]) => field === otherField && areApart(values, others)),
    );
}

const matchesOf = (events: Events | undefined): readonly Match[] =>
  typeof events === 'string' ? [{ event: events, where: [] }] : (events ?? [{ event: null, where: [] }]);

function requiredValues(condition: Condition): [string, readonly Literal[]][] {
  if (condition.kind === 'and') return condition.terms.flatMap(requiredValues);
  if (condition.kind === 'in' && !condition.negated) return [[condition.field, condition.values]];
  if (condition.kind === 'compare' && condition.operator === '=') return [[condition.field, [condition.value]]];
  return [];
}

/** A value may equal literals of two types: 1 equals `1`, `"1"` and `true`. */
function areApart(values: readonly Literal[], others: readonly Literal[]): boolean {
  const isOfOneType = new Set([...values, ...others].map((value) => typeof value)).size === 1;
  return isOfOneType && !values.some((value) => others.includes(value));
}

/** Steps of different names. */
const differentSteps = (names: readonly string[], steps: readonly IsOf[]): IsOf[] =>
  steps.filter((_, index) => names.indexOf(names[index] ?? '') === index);

/** A later step weighs more than all earlier ones together. */
const weightOf = (event: Event, steps: readonly IsOf[]): number =>
  steps.reduce((sum, isStep, index) => sum + (isStep(event) ? 2 ** index : 0), 0);

/**
 * Reading: where steps may overlap, events of equal time are in the order of the first step that
 * they match; of equal ones, those of later steps come later.
 */
function inOrderOfSteps(events: readonly Event[], names: readonly string[], steps: readonly IsOf[]): Event[] {
  const different = differentSteps(names, steps);
  const first = (event: Event): number => different.findIndex((isStep) => isStep(event));
  const weight = (event: Event): number => weightOf(event, different);
  return [...events].sort(
    (a, b) => a.time - b.time || first(a) - first(b) || weight(a) - weight(b) || compareEvents(a, b),
  );
}

/** Reading: in any order, a step takes of equal times the event that the later steps need least. */
function byNeed(events: readonly Event[], names: readonly string[], steps: readonly IsOf[]): Event[] {
  const weight = (event: Event): number => weightOf(event, differentSteps(names, steps));
  return [...events].sort((a, b) => a.time - b.time || weight(a) - weight(b) || compareEvents(a, b));
}

/**
 * Each step takes the earliest remaining event, which is never worse than a later one: it leaves
 * more time and fewer excluded events before it. A step may have the same time as the previous one.
 */
function attemptFrom(start: Event, { events, steps, excluded, window, isByPosition }: Attempted): [Event, ...Event[]] {
  const deadline = start.time + window;
  const attempt: [Event, ...Event[]] = [start];
  let before = start;
  for (const isStep of steps.slice(1)) {
    const candidates = isByPosition ? events.slice(events.indexOf(before) + 1) : events;
    const next = candidates.find(
      (event) => isStep(event) && !attempt.includes(event) && event.time >= before.time && event.time <= deadline,
    );
    if (next === undefined || isBroken(before, next, excluded)) break;
    attempt.push(next);
    before = next;
  }
  return attempt;
}

/** Whether an excluded event lies after the one step and not after the next. */
const isBroken = (before: Event, next: Event, excluded: readonly Event[]): boolean =>
  excluded.some((event) => event.time > before.time && event.time <= next.time);

const STEPS = ['step', 'event', 'users', 'rate', 'step_rate', 'median_seconds'];
const WITHIN = { within_1m: MINUTE, within_1h: HOUR, within_1d: DAY, within_7d: 7 * DAY, within_30d: 30 * DAY };
const TIMES = ['step', 'event', 'users', 'p10', 'median', 'p90', ...Object.keys(WITHIN)];

function reportColumns({ times }: FunnelQuestion): string[] {
  if (times === undefined) return STEPS;
  return times === 'all' ? TIMES : ['step', 'from_seconds', 'users'];
}

function reportRows(question: FunnelQuestion, names: readonly string[], attempts: readonly Attempt[]): Row[] {
  const reached = names.map((_, index) => attempts.filter(({ times }) => times.length > index));
  return names.flatMap((name, index): Row[] => {
    const durations = (reached[index] ?? []).map(({ times }) => (times[index] ?? 0) - (times[0] ?? 0));
    const users = durations.length;
    const row = { step: index + 1, event: question.order === 'any' ? null : name, users };
    const seconds = (p: number) =>
      quantile(
        durations.map((ms) => ms / 1000),
        p,
      );
    if (question.times === undefined) {
      const step_rate = index === 0 ? 1 : ratio(users, reached[index - 1]?.length ?? 0);
      return [
        { ...row, rate: ratio(users, attempts.length), step_rate, median_seconds: index === 0 ? null : seconds(0.5) },
      ];
    }
    if (index === 0) return [];
    if (question.times !== 'all') return binRows(index + 1, durations, lengthOf(question.times));
    const within = Object.entries(WITHIN).map(([column, limit]) => [
      column,
      ratio(durations.filter((ms) => ms <= limit).length, users),
    ]);
    return [{ ...row, p10: seconds(0.1), median: seconds(0.5), p90: seconds(0.9), ...Object.fromEntries(within) }];
  });
}

/** Reading: every bin up to the last one with people has a row. */
function binRows(step: number, durations: readonly number[], width: number): Row[] {
  const bins = durations.map((ms) => Math.floor(ms / width));
  return Array.from({ length: Math.max(-1, ...bins) + 1 }, (_, bin) => ({
    step,
    from_seconds: (bin * width) / 1000,
    users: bins.filter((one) => one === bin).length,
  }));
}

/**
 * Attempts by the value at their first step; most people first, then by value (reading), missing
 * values last.
 */
function blocks(attempts: readonly Attempt[], groupOf: (event: Event) => string | null): [string | null, Attempt[]][] {
  const blocks = new Map<string | null, Attempt[]>();
  for (const attempt of attempts) {
    const value = groupOf(attempt.start);
    blocks.set(value, [...(blocks.get(value) ?? []), attempt]);
  }
  return [...blocks].sort(([a, left], [b, right]) => right.length - left.length || compareCells(a, b));
}
