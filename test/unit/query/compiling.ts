// Compiles a query text for a test: its statement, or its problems.
import { toProjectId } from '../../../src/platform/ids.js';
import { type CompileContext, type CompiledQuery, compile } from '../../../src/query/compile.js';
import { QueryError, type QueryErrorDetail } from '../../../src/query/errors.js';
import type { Guess } from '../../../src/query/property-guess.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';

export const CONTEXT: CompileContext = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'America/St_Johns',
  limit: 100,
  offset: 0,
};

export const compileWith = (text: string, guess: Guess): CompiledQuery =>
  compile(text, { ...CONTEXT, guessOf: () => guess });

export function problemsOf(text: string): readonly QueryErrorDetail[] {
  try {
    compile(text, CONTEXT);
    return [];
  } catch (error) {
    if (error instanceof QueryError) return error.details;
    throw error;
  }
}
