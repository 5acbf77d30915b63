// What stops the stack from starting, as one sentence for the person at the terminal.

export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
