// No stage is ignored: behind every source, each stage changes what is asked, or is refused by name.
import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import type { SourceKind, StageKind } from '../../../src/query/parse/syntax.js';
import { CONTEXT } from './compiling.js';

const SOURCES: Readonly<Record<SourceKind, string>> = {
  event: 'signup',
  all: '*',
  funnel: 'funnel signup -> pay',
  retention: 'retention signup',
  paths: 'paths from signup',
  sessions: 'sessions',
  lifecycle: 'lifecycle *',
  stickiness: 'stickiness *',
  user: 'user "ada"',
  users: 'users',
  formula: 'formula count(pay) / unique(signup)',
  fields: 'fields',
  inspect: 'inspect signup',
  choice: 'choice button | results pay',
};

/** Several of a kind where one may be what the source does anyway. */
const STAGES: Readonly<Record<StageKind, readonly string[]>> = {
  where: ['where _country = "DE"'],
  last: ['last 3d'],
  from_to: ['from 2026-11-01 to 2026-11-03'],
  since: ['since 2026-11-01'],
  named_range: ['yesterday', 'this quarter', 'last quarter'],
  aggregate: ['count by _country', 'unique', 'sum event_properties.price', 'latest _path per user_id'],
  by: ['by _country', 'by month', 'by weekday'],
  list: ['list _path'],
  sort: [],
  top: ['top 3'],
  limit: ['limit 3'],
  window: ['window 3d'],
  depth: ['depth 3'],
  exclude: ['exclude refund'],
  returning: ['returning login'],
  results: ['results signup'],
  unit: ['unit user_id'],
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

describe.each(Object.entries(SOURCES))('%s', (_kind, source) => {
  const alone = outcomeOf(source);
  const columns = 'columns' in alone ? alone.columns : [];

  test('compiles alone', () => expect(alone).toHaveProperty('asked'));

  test.each(Object.values(STAGES).flat())('%s', (stage) => {
    const outcome = outcomeOf(`${source} | ${stage}`);
    // By the stage's name, or by that of the field that does not fit.
    const names = stage.split(' ').filter((word) => /^[a-z_.]{2,}$/.test(word));
    if ('refused' in outcome) expect(names.some((name) => outcome.refused.includes(name))).toBe(true);
    else expect(outcome).not.toEqual(alone);
  });

  test('sort by each column of the answer', () => {
    for (const column of columns) {
      const [up, down] = ['asc', 'desc'].map((direction) => outcomeOf(`${source} | sort ${column} ${direction}`));
      // One row without groups has no order.
      if (columns.length === 1) expect(up).toHaveProperty('asked');
      else if (up !== undefined && 'refused' in up) expect(up.refused).toMatch(new RegExp(`\\bsort\\b|${column}`));
      else expect(up).not.toEqual(down);
    }
  });
});
