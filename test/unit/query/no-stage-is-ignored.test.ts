// No stage is ignored: after every source, each stage changes the compiled query, or is refused by name.
import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { STAGES } from '../../../src/query/language.js';
import type { SourceKind, StageKind } from '../../../src/query/parse/syntax.js';
import { SOURCES } from '../../../src/query/sources/index.js';
import { CONTEXT } from './compiling.js';

/** Sources that need another example than that of the table of sources. */
const SOURCE_EXAMPLES: Partial<Readonly<Record<SourceKind, string>>> = {
  funnel: 'funnel signup -> pay',
  retention: 'retention signup',
  paths: 'paths from signup',
  lifecycle: 'lifecycle *',
  stickiness: 'stickiness *',
  user: 'user "ada"',
  formula: 'formula count(pay) / unique(signup)',
  inspect: 'inspect signup',
  choice: 'choice button | results pay',
};

/**
 * Stages that need other examples than that of the table of stages: several, where one may equal the default of a source.
 */
const EXAMPLES: Partial<Readonly<Record<StageKind, readonly string[]>>> = {
  where: ['where _country = "DE"'],
  last: ['last 3d'],
  from_to: ['from 2026-11-01 to 2026-11-03'],
  named_range: ['yesterday', 'this quarter', 'last quarter'],
  aggregate: ['count by _country', 'unique', 'sum event_properties.price', 'latest _path per user_id'],
  by: ['by _country', 'by month', 'by weekday'],
  list: ['list _path'],
  sort: [],
  window: ['window 3d'],
  depth: ['depth 3'],
  compare: ['compare previous', 'compare 1y', 'compare weekdays', 'compare from 2026-10-01 to 2026-10-03'],
};

type Outcome = { readonly asked: string; readonly columns: readonly string[] } | { readonly refused: string };

function outcomeOf(text: string): Outcome {
  try {
    const { warnings: _, ...compiled } = compile(text, CONTEXT);
    return { asked: JSON.stringify(compiled), columns: compiled.columns.map(({ name }) => name) };
  } catch (error) {
    if (error instanceof QueryError) return { refused: error.message };
    throw error;
  }
}

describe.each(Object.entries(SOURCES))('source %s', (kind, { example }) => {
  const source = SOURCE_EXAMPLES[kind as SourceKind] ?? example;
  const alone = outcomeOf(source);
  const columns = 'columns' in alone ? alone.columns : [];

  test('compiles without stages', () => expect(alone).toHaveProperty('asked'));

  test.each(Object.entries(STAGES).flatMap(([kind, { example }]) => EXAMPLES[kind as StageKind] ?? [example]))(
    'uses or refuses %s',
    (stage) => {
      const outcome = outcomeOf(`${source} | ${stage}`);
      // By the stage's name, or by that of the field that does not fit.
      const names = stage.split(' ').filter((word) => /^[a-z_.]{2,}$/.test(word));
      if ('refused' in outcome) expect(names.some((name) => outcome.refused.includes(name))).toBe(true);
      else expect(outcome).not.toEqual(alone);
    },
  );

  test('uses or refuses sort by each column', () => {
    for (const column of columns) {
      const [up, down] = ['asc', 'desc'].map((direction) => outcomeOf(`${source} | sort ${column} ${direction}`));
      // One row without groups has no order.
      if (columns.length === 1) expect(up).toHaveProperty('asked');
      else if (up !== undefined && 'refused' in up) expect(up.refused).toMatch(new RegExp(`\\bsort\\b|${column}`));
      else expect(up).not.toEqual(down);
    }
  });
});
