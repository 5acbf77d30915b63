// Reference implementation of funnels: conversion through steps.
import { quantile, ratio } from './aggregate.js';
import { intervalOf, lengthOf } from './calendar.js';
import { eventsOf, type IsOf, isOneOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Condition, Events, FunnelQuestion, Match } from './question.js';
import { type Answer, compareCells, inThisOrder, type Row } from './table.js';
import { eventText, fieldText } from './to-query-text.js';
import { textOf } from './values.js';
import { byPerson, compareEvents, type World } from './world.js';

/** The counted attempt of one person: the event of each step reached, at least the first. */
type Attempt = readonly [Event, ...Event[]];

export function answerFunnel(question: FunnelQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const events = eventsOf(world, null, interval, question.where);
  const steps = question.steps.map((step) => isOneOf(world, step));
  const isExcluded = question.exclude.map((excluded) => isOneOf(world, excluded));
  const names = question.steps.map(stepName);
  const isByPosition = names.some((name, index) =>
    names.some((other, at) => at < index && name !== other && mayOverlap(question.steps[index], question.steps[at])),
  );
  const window = lengthOf(question.window ?? { count: 1, unit: 'h' });
  const attempts: Attempt[] = [];
  for (const own of byPerson(world, events).values()) {
    const relevant = own.filter((event) => steps.some((isStep) => isStep(event)));
    const ordered = isByPosition ? inOrderOfSteps(relevant, names, steps) : relevant;
    const excluded = own.filter((event) => isExcluded.some((isOf) => isOf(event)));
    const best = bestAttempt({ events: ordered, steps, excluded, window, isByPosition });
    if (best !== undefined) attempts.push(best);
  }
  const columns = ['step', 'event', 'users', 'rate', 'step_rate', 'median_seconds'];
  const { by } = question;
  if (by === undefined) return { mode: 'funnel', columns, ...inThisOrder(stepRows(names, attempts)) };
  const column = fieldText(by);
  const rows = blocks(attempts, (event) => textOf(eventField(world)(event, by)) ?? null).flatMap(([value, own]) =>
    stepRows(names, own).map((row) => ({ [column]: value, ...row })),
  );
  return { mode: 'funnel', columns: [column, ...columns], ...inThisOrder(rows) };
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

/** Reading: steps may overlap unless their types differ, or both require different values of one field. */
function mayOverlap(one: Events | undefined, other: Events | undefined): boolean {
  const [left, right] = [matchesOf(one), matchesOf(other)];
  const sharesType = left.some((a) => right.some((b) => a.event === null || b.event === null || a.event === b.event));
  if (!sharesType || left.length > 1 || right.length > 1) return sharesType;
  return !(left[0]?.where ?? [])
    .flatMap(requiredValues)
    .some(([field, values]) =>
      (right[0]?.where ?? [])
        .flatMap(requiredValues)
        .some(([otherField, others]) => field === otherField && !values.some((value) => others.includes(value))),
    );
}

const matchesOf = (events: Events | undefined): readonly Match[] =>
  typeof events === 'string' ? [{ event: events, where: [] }] : (events ?? [{ event: null, where: [] }]);

function requiredValues(condition: Condition): [string, string[]][] {
  if (condition.kind === 'and') return condition.terms.flatMap(requiredValues);
  if (condition.kind === 'in' && !condition.negated) return [[condition.field, condition.values.map(String)]];
  if (condition.kind === 'compare' && condition.operator === '=') return [[condition.field, [String(condition.value)]]];
  return [];
}

/** Reading: where steps may overlap, events of equal time are in the order of the steps that they match. */
function inOrderOfSteps(events: readonly Event[], names: readonly string[], steps: readonly IsOf[]): Event[] {
  const isFirstOfItsName = names.map((name, index) => names.indexOf(name) === index);
  const different = steps.filter((_, index) => isFirstOfItsName[index]);
  const rank = (event: Event): number =>
    different.reduce((sum, isStep, index) => sum + (isStep(event) ? 2 ** index : 0), 0);
  return [...events].sort((a, b) => a.time - b.time || rank(a) - rank(b) || compareEvents(a, b));
}

/**
 * The attempt that reached the most steps; among equals the earliest start (reading: then the
 * smaller insert_id).
 */
function bestAttempt(attempted: Attempted): Attempt | undefined {
  let best: Attempt | undefined;
  for (const start of attempted.events) {
    if (!attempted.steps[0]?.(start)) continue;
    const attempt = attemptFrom(start, attempted);
    if (best === undefined || attempt.length > best.length) best = attempt;
  }
  return best;
}

/**
 * Each step takes the earliest remaining event, which is never worse than a later one: it leaves
 * more time and fewer excluded events before it. A step may have the same time as the previous one.
 */
function attemptFrom(start: Event, { events, steps, excluded, window, isByPosition }: Attempted): Attempt {
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

function stepRows(steps: readonly string[], attempts: readonly Attempt[]): Row[] {
  const reached = steps.map((_, index) => attempts.filter((attempt) => attempt.length > index));
  return steps.map((event, index) => {
    const users = reached[index]?.length ?? 0;
    return {
      step: index + 1,
      event,
      users,
      rate: ratio(users, attempts.length),
      step_rate: index === 0 ? 1 : ratio(users, reached[index - 1]?.length ?? 0),
      median_seconds: index === 0 ? null : medianSeconds(reached[index] ?? [], index),
    };
  });
}

function medianSeconds(attempts: readonly Attempt[], index: number): number | null {
  const seconds = attempts.map((attempt) => ((attempt[index] ?? attempt[0]).time - attempt[0].time) / 1000);
  return quantile(seconds, 0.5);
}

/**
 * Attempts by the value at their first step; most people first, then by value (reading), missing
 * values last.
 */
function blocks(attempts: readonly Attempt[], groupOf: (event: Event) => string | null): [string | null, Attempt[]][] {
  const blocks = new Map<string | null, Attempt[]>();
  for (const attempt of attempts) {
    const value = groupOf(attempt[0]);
    blocks.set(value, [...(blocks.get(value) ?? []), attempt]);
  }
  return [...blocks].sort(([a, left], [b, right]) => right.length - left.length || compareCells(a, b));
}
