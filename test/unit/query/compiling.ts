// Compiles a query text for a test: its statement, or its problems.

import { toProjectId } from '../../../src/platform/ids.js';
import { type CompileContext, type CompiledQuery, compile } from '../../../src/query/compile.js';
import type { Definition, DefinitionKind } from '../../../src/query/definitions/definitions.js';
import { QueryError, type QueryErrorDetail } from '../../../src/query/errors.js';
import type { Guess } from '../../../src/query/property-guess.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';
import { applyFixes } from '../../support/apply-fixes.js';

export const CONTEXT: CompileContext = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'America/St_Johns',
  limit: 100,
  offset: 0,
  definitions: [{ kind: 'metric', name: 'NAME', query: 'formula count(a) / unique(b)', line: 1 }],
};

/** A definition of the third line of a file. */
export const define = (kind: DefinitionKind, name: string, query: string): Definition => ({
  kind,
  name,
  query,
  line: 3,
});

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

/** With fixes, which are compiled too. */
export function detailsOf(text: string, more: Partial<CompileContext> = {}): readonly QueryErrorDetail[] {
  try {
    compile(text, { ...CONTEXT, suggestsFixes: true, ...more });
    return [];
  } catch (error) {
    if (error instanceof QueryError) return error.details;
    throw error;
  }
}

/** The text with all fixes of one answer, applied together. */
export const repaired = (text: string): string => applyFixes(text, detailsOf(text));
