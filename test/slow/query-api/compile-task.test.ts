// Compiling in a thread gives the same result as in the event loop: nothing is lost when it is
// copied between threads.
import { expect, test } from 'vitest';
import { compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import type { Guess, GuessOf } from '../../../src/query/property-guess.js';
import { tokenOf } from '../../../src/query/property-token.js';
import { compileTask } from '../../../src/query-api/compile-task.js';
import { readGoldenFiles } from '../../golden/golden-file.js';

const NO_GUESSES: ReadonlyMap<string, Guess> = new Map();

test.each(readGoldenFiles().map((file) => [file.name, file] as const))(
  'compileTask compiles %s as in the event loop',
  async (_, { query, context }) => {
    const answered = structuredClone(await compileTask.run({ text: query, context, guesses: NO_GUESSES }));
    try {
      expect(answered).toEqual({ compiled: compile(query, { ...context, suggestsFixes: true }) });
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      expect(answered).toEqual({ message: error.message, details: error.details });
    }
  },
);

test('compileTask uses learned property guesses', async () => {
  const text = '* | count by event_properties.plan';
  const context = { ...readGoldenFiles()[0]?.context } as Parameters<typeof compile>[1];
  const token = tokenOf('event_properties', 'plan');
  const answered = await compileTask.run({ text, context, guesses: new Map([[token, 'number']]) });
  const guessOf: GuessOf = (bag, key) => (tokenOf(bag, key) === token ? 'number' : 'text');
  expect(answered).toEqual({ compiled: compile(text, { ...context, guessOf }) });
  expect(answered).not.toEqual({ compiled: compile(text, context) });
});
