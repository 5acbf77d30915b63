// Reference implementation of funnels: conversion through steps.
import { quantile, ratio } from './aggregate.js';
import { intervalOf, lengthOf } from './calendar.js';
import { eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { FunnelQuestion } from './question.js';
import { type Answer, compareCells, inThisOrder, type Row } from './table.js';
import { fieldText } from './to-query-text.js';
import { textOf } from './values.js';
import { byPerson, type World } from './world.js';

/** The counted attempt of one person: the event of each step reached, at least the first. */
type Attempt = readonly [Event, ...Event[]];

export function answerFunnel(question: FunnelQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const events = eventsOf(world, [...question.steps, ...question.exclude], interval, question.where);
  const attempts: Attempt[] = [];
  for (const own of byPerson(world, events).values()) {
    const best = bestAttempt(own, question);
    if (best !== undefined) attempts.push(best);
  }
  const columns = ['step', 'event', 'users', 'rate', 'step_rate', 'median_seconds'];
  const { by } = question;
  if (by === undefined) return { mode: 'funnel', columns, ...inThisOrder(stepRows(question.steps, attempts)) };
  const column = fieldText(by);
  const rows = blocks(attempts, (event) => textOf(eventField(world)(event, by)) ?? null).flatMap(([value, own]) =>
    stepRows(question.steps, own).map((row) => ({ [column]: value, ...row })),
  );
  return { mode: 'funnel', columns: [column, ...columns], ...inThisOrder(rows) };
}

/**
 * The attempt that reached the most steps; among equals the earliest start (reading: then the
 * smaller insert_id).
 */
function bestAttempt(events: readonly Event[], question: FunnelQuestion): Attempt | undefined {
  let best: Attempt | undefined;
  for (const start of events) {
    if (start.event_type !== question.steps[0]) continue;
    const attempt = attemptFrom(start, events, question);
    if (best === undefined || attempt.length > best.length) best = attempt;
  }
  return best;
}

/**
 * Each step takes the earliest remaining event, which is never worse than a later one: it leaves
 * more time and fewer excluded events before it. A step may have the same time as the previous one.
 */
function attemptFrom(start: Event, events: readonly Event[], question: FunnelQuestion): Attempt {
  const deadline = start.time + lengthOf(question.window ?? { count: 1, unit: 'h' });
  const attempt: [Event, ...Event[]] = [start];
  let before = start;
  for (const type of question.steps.slice(1)) {
    const next = events.find(
      (event) =>
        event.event_type === type && !attempt.includes(event) && event.time >= before.time && event.time <= deadline,
    );
    if (next === undefined || isBroken(before, next, events, question.exclude)) break;
    attempt.push(next);
    before = next;
  }
  return attempt;
}

/** Whether an excluded event lies after the one step and not after the next. */
function isBroken(before: Event, next: Event, events: readonly Event[], exclude: readonly string[]): boolean {
  return events.some(
    (event) => exclude.includes(event.event_type) && event.time > before.time && event.time <= next.time,
  );
}

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
