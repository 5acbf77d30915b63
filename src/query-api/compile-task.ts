// Compiles queries without blocking the event loop: short texts with short definitions here, in
// well under a millisecond; others in a thread.
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type CompileContext, type CompiledQuery, compile } from '../query/compile.js';
import { CompileWork, TooMuchText } from '../query/compile-work.js';
import { QueryError, type QueryErrorDetail } from '../query/errors.js';
import { GUESSES, type Guess } from '../query/property-guess.js';
import { tokenOf } from '../query/property-token.js';
import type { PropertyGuesses } from './property-guesses.js';

/**
 * Maximum length of a text, and of the definitions that it uses, each use counted. Typical queries
 * have some hundred characters. The slowest texts of this length take a few milliseconds.
 */
const LOOP_LENGTH_MAX = 2048;
/**
 * Maximum length of a text whose fixes are searched here: they apply some two hundred expressions,
 * whose time grows with the square of the length. The slowest texts take 10 to 20 ms.
 */
const LOOP_FIXES_LENGTH_MAX = 512;

export type CompileAnswer =
  | { readonly compiled: CompiledQuery }
  | { readonly message: string; readonly details: readonly QueryErrorDetail[] };

type PlainContext = Omit<CompileContext, 'guessOf' | 'work' | 'suggestsFixes'>;

export interface CompileDeps {
  readonly guesses: PropertyGuesses;
  readonly threads: ThreadPool;
}

/** Resolves with the compiled query, or with all problems of its text. */
export async function compileOffLoop(
  { guesses, threads }: CompileDeps,
  text: string,
  context: PlainContext,
): Promise<CompileAnswer> {
  const { projectId } = context;
  if (text.length <= LOOP_LENGTH_MAX) {
    try {
      const work = new CompileWork(LOOP_LENGTH_MAX);
      const suggestsFixes = text.length <= LOOP_FIXES_LENGTH_MAX;
      const answer = tryCompile(text, { ...context, guessOf: guesses.of(projectId), work, suggestsFixes });
      if (suggestsFixes || 'compiled' in answer) return answer;
    } catch (error) {
      if (!(error instanceof TooMuchText)) throw error;
    }
  }
  return threads.run(compileTask, { text, context, guesses: guesses.known(projectId) }, projectId);
}

interface CompileRequest {
  readonly text: string;
  readonly context: PlainContext;
  /** Guesses other than the first, by token: a function cannot be sent to a thread. */
  readonly guesses: ReadonlyMap<string, Guess>;
}

export const compileTask: ThreadTask<CompileRequest, CompileAnswer> = {
  module: import.meta.url,
  name: 'compileTask',
  run: ({ text, context, guesses }) =>
    tryCompile(text, {
      ...context,
      guessOf: (bag, key) => guesses.get(tokenOf(bag, key)) ?? GUESSES[0],
      suggestsFixes: true,
    }),
  tooCostly: 'the query takes more than {limit} to compile; ask for less in one query',
};

function tryCompile(text: string, context: CompileContext): CompileAnswer {
  try {
    return { compiled: compile(text, context) };
  } catch (error) {
    if (error instanceof QueryError) return { message: error.message, details: error.details };
    throw error;
  }
}
