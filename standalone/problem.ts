// Error that stops the stack from starting, with one sentence for the terminal.

export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
