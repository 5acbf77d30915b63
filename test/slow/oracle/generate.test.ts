// Generators of the oracle tests: random questions are valid and have meaningful answers; random
// histories contain edge cases.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parser } from '../../../grammar/parser.js';
import { answer } from '../../oracle/answer.js';
import { DAY } from '../../oracle/calendar.js';
import { differenceOf, type ServiceAnswer } from '../../oracle/compare.js';
import { histories } from '../../oracle/generate.js';
import { rounds, SOURCES } from '../../oracle/generate-questions.js';
import type { History } from '../../oracle/history.js';
import type { Answer, Row } from '../../oracle/table.js';
import { toQueryText } from '../../oracle/to-query-text.js';
import { worldOf } from '../../oracle/world.js';

const RUNS = { numRuns: 25 };

/** The answer as JSON, as from a service that agrees with the oracle. */
function served({ columns, rows, mode, beside }: Answer): ServiceAnswer {
  return JSON.parse(JSON.stringify({ columns, rows, mode, total: rows.length, ...beside }));
}

function syntaxErrors(text: string): string[] {
  const errors: string[] = [];
  parser.parse(text).iterate({
    enter(node) {
      if (node.type.isError || node.name === 'UnknownStage') errors.push(text.slice(node.from));
    },
  });
  return errors;
}

describe.each(SOURCES)('random rounds of %s', (source) => {
  test('have questions with valid syntax', () => {
    fc.assert(
      fc.property(rounds(source), ({ questions }) => {
        for (const question of questions) expect(syntaxErrors(toQueryText(question))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('get one deterministic answer, whose rows have its columns', () => {
    fc.assert(
      fc.property(rounds(source), ({ history, questions, context }) => {
        for (const question of questions) {
          const first = answer(question, history, context);
          for (const row of first.rows) expect(Object.keys(row)).toEqual(expect.arrayContaining([...first.columns]));
          expect(first.ranks).toHaveLength(first.rows.length);
          expect(differenceOf(served(first), answer(question, history, context))).toBeUndefined();
        }
      }),
      RUNS,
    );
  });

  test('get the same answer for any storage order of distinct events', () => {
    fc.assert(
      fc.property(rounds(source), ({ history, questions, context }) => {
        const shuffled = { ...history, events: withoutDuplicates(history).reverse() };
        for (const question of questions) {
          const expected = answer(question, history, context);
          expect(
            differenceOf(served(answer(question, shuffled, context)), expected, { strictOrder: true }),
          ).toBeUndefined();
        }
      }),
      RUNS,
    );
  });

  test('often have answers that are not empty', () => {
    const answers = fc
      .sample(rounds(source), { numRuns: 60, seed: 7 })
      .flatMap(({ history, questions, context }) => questions.map((question) => answer(question, history, context)));
    const telling = answers.filter(({ rows }) => rows.some(saysSomething));
    expect(telling.length / answers.length).toBeGreaterThan(0.25);
  });
});

function withoutDuplicates({ events }: History): History['events'][number][] {
  const keys = new Set<string>();
  return events.filter((event) => {
    const key = JSON.stringify([event.project, event.event_type, event.time, event.insert_id]);
    return !keys.has(key) && keys.add(key);
  });
}

/** A number that is not zero, or a row that has no numbers. */
function saysSomething(row: Row): boolean {
  const counted = ['users', 'sessions', 'value', 'exposures', 'events', 'count', 'coverage'].filter(
    (name) => name in row,
  );
  return counted.length === 0 || counted.some((name) => row[name] !== 0 && row[name] !== null);
}

describe('random histories', () => {
  const context = { now: Date.parse('2024-10-27T01:30:00Z'), timezone: 'Europe/Berlin' };
  const sample = fc.sample(histories(context), { numRuns: 200, seed: 7 });

  test('contain duplicates, equal times, events without ids, two projects and remapped devices', () => {
    const has = (isThere: (history: History) => boolean) => sample.filter(isThere).length;
    expect(has((history) => withoutDuplicates(history).length < history.events.length)).toBeGreaterThan(20);
    expect(has(({ events }) => new Set(events.map(({ time }) => time)).size < events.length)).toBeGreaterThan(50);
    expect(
      has(({ events }) => events.some((event) => event.user_id === null && event.device_id === null)),
    ).toBeGreaterThan(20);
    expect(has(({ events }) => new Set(events.map(({ project }) => project)).size === 2)).toBeGreaterThan(20);
    expect(has(({ mappings }) => new Set(mappings.map((m) => m.device_id)).size < mappings.length)).toBeGreaterThan(20);
    expect(has(({ events }) => events.some(({ time }) => time > context.now))).toBeGreaterThan(20);
  });

  test('contain no session longer than a day', () => {
    for (const history of sample) {
      for (const session of worldOf(history, context).sessions) expect(session.end - session.start).toBeLessThan(DAY);
    }
  });

  test('shrink to a minimal counterexample', () => {
    const property = fc.property(
      histories(context),
      ({ events }) => !events.some(({ event_type }) => event_type === 'pay'),
    );
    const { counterexample } = fc.check(property, { seed: 7 });
    expect(counterexample?.[0].events).toHaveLength(1);
    expect(counterexample?.[0].mappings).toHaveLength(0);
  });
});
