// Error that stops the stack from starting, with one sentence for the terminal.

export class StartProblem extends Error {
  override readonly name = 'StartProblem';
}
