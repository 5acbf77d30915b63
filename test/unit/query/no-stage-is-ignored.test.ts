// No stage is ignored: after every source, each stage changes the compiled query, or is refused by
// name.
import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { SOURCES } from '../../../src/query/sources/index.js';
import { STAGE_EXAMPLES, sourceExample } from '../../support/query-forms.js';
import { CONTEXT } from './compiling.js';

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

describe.each(Object.keys(SOURCES))('%s', (kind) => {
  const source = sourceExample(kind);
  const alone = outcomeOf(source);
  const columns = 'columns' in alone ? alone.columns : [];

  test('compiles without stages', () => expect(alone).toHaveProperty('asked'));

  test.each(STAGE_EXAMPLES)('%s', (stage) => {
    const outcome = outcomeOf(`${source} | ${stage}`);
    // By the stage's name, or by that of the field that does not fit.
    const names = stage.split(' ').filter((word) => /^[a-z_.]{2,}$/.test(word));
    if ('refused' in outcome) expect(names.some((name) => outcome.refused.includes(name))).toBe(true);
    else expect(outcome).not.toEqual(alone);
  });

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
