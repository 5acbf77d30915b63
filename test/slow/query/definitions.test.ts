// Random queries of every source, of which every event, condition of people and formula becomes a
// definition: the engine is asked the same.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CompiledQuery, compile } from '../../../src/query/compile.js';
import type { Definition } from '../../../src/query/definitions/definitions.js';
import { parse } from '../../../src/query/parse/parse.js';
import { type Condition, type EventPattern, stagesOf } from '../../../src/query/parse/syntax.js';
import { contexts } from '../../oracle/generate.js';
import { questions, SOURCES } from '../../oracle/generate-questions.js';
import { toQueryText } from '../../oracle/to-query-text.js';
import { CONTEXT, define } from '../../unit/query/compiling.js';

type Node = Readonly<Record<string, unknown>>;

/** The events of a query that stand for themselves: not those within another one. */
function patternsIn(node: unknown): EventPattern[] {
  if (typeof node !== 'object' || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(patternsIn);
  if ('matches' in node) {
    const pattern = node as unknown as EventPattern;
    return pattern.matches.some(({ name }) => name === undefined) ? [] : [pattern];
  }
  return Object.values(node as Node).flatMap(patternsIn);
}

const isOfPeople = (condition: Condition): boolean => {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.every(isOfPeople);
    case 'not':
      return isOfPeople(condition.item);
    case 'comparison':
      return condition.field.path.startsWith('user.');
    case 'call_comparison':
      return condition.call.per === undefined;
  }
};

interface Taken {
  readonly text: string;
  readonly definitions: readonly Definition[];
  /** The text of each defined event by its name, which steps show. */
  readonly written: ReadonlyMap<string, string>;
}

interface Cut {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly definition: Definition;
}

/** Every event, every condition of people and the source of a formula as definitions. */
function takenApart(text: string): Taken {
  const { query } = parse(text);
  const { source, stages } = query;
  const cuts: Cut[] = [];
  const written = new Map<string, string>();
  const isUsers = source !== undefined && source !== 'broken' && source.kind === 'users';
  for (const { condition, span } of isUsers ? [] : stagesOf(stages, 'where')) {
    if (!isOfPeople(condition)) continue;
    const name = `people_${cuts.length}`;
    const own = text.slice(span.from, span.to);
    cuts.push({ ...span, text: `where cohort.${name} = true`, definition: define('cohort', name, `* | ${own}`) });
  }
  if (source !== undefined && source !== 'broken' && source.kind === 'formula') {
    const own = text.slice(source.span.from, source.span.to);
    cuts.push({ ...source.span, text: 'metric rate', definition: define('metric', 'rate', own) });
  }
  const isFree = (span: { from: number; to: number }) =>
    cuts.every((cut) => cut.to <= span.from || span.to <= cut.from);
  for (const { span, written: shown } of patternsIn(query).filter((of) => isFree(of.span))) {
    if (!isFree(span)) continue;
    // Equal events are one definition: the plan of a funnel knows equal steps by their name.
    const own = text.slice(span.from, span.to);
    const before = cuts.find(({ definition }) => definition.kind === 'event' && definition.query === own)?.definition;
    const definition = before ?? define('event', `event_${cuts.length}`, own);
    written.set(definition.name, shown);
    cuts.push({ ...span, text: definition.name, definition });
  }
  const replaced = [...cuts].sort((a, b) => b.from - a.from);
  return {
    text: replaced.reduce((so, cut) => so.slice(0, cut.from) + cut.text + so.slice(cut.to), text),
    definitions: cuts.map(({ definition }) => definition),
    written,
  };
}

type Names = ReadonlyMap<string, string>;

/** A statement with its values in place, because equal values share a parameter. */
function filled(statement: CompiledQuery['statement'] | undefined, names: Names): string | undefined {
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shown);
    return typeof value === 'string' ? (names.get(value) ?? value) : value;
  };
  return statement?.sql.replace(/\{(\w+):([^{}]+)\}/g, (_, name: string, type: string) => {
    return `${JSON.stringify(shown(statement.params[name]))}:${type}`;
  });
}

/** What the engine is asked, with the names of steps as the text has them. */
function askedOf(text: string, context: object, names: Names = new Map()): unknown {
  const { statement, countStatement, columns, range, withoutUnit } = compile(text, { ...CONTEXT, ...context });
  const statements = [statement, countStatement, withoutUnit?.statement].map((one) => filled(one, names));
  return { statements, columns, range };
}

describe('random queries of every source, taken apart into definitions, ask the same', () => {
  let found = 0;
  test.each(SOURCES)('%s', (source) => {
    fc.assert(
      fc.property(
        contexts.chain((context) => fc.tuple(fc.constant(context), questions(source, context))),
        ([{ now: nowMs, timezone }, question]) => {
          const text = toQueryText(question);
          const { text: short, definitions, written } = takenApart(text);
          found += definitions.length;
          const context = { nowMs, timezone };
          expect(askedOf(short, { ...context, definitions }, written), short).toEqual(askedOf(text, context));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('has definitions of every kind', () => expect(found).toBeGreaterThan(500));
});
