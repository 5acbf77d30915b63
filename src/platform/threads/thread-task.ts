// A task that runs in a thread of the pool (thread-pool.ts): a function of an exported constant, which a thread finds by
// the module that exports it and its name there. Input and output are copied between threads, and buffers that the task
// names are moved: plain data, no functions.
import { PublicError, type PublicErrorKind } from '../errors.js';

export interface ThreadTask<Input, Output> {
  /** `import.meta.url` of the module that exports the task. */
  readonly module: string;
  /** The name that it is exported under. */
  readonly name: string;
  /** A PublicError that it throws reaches the caller of the pool as it is. */
  run(input: Input): Output | Promise<Output>;
  /** What is too large when a thread runs out of time or memory, and what to narrow: `…; send fewer …`. */
  readonly tooCostly: string;
  /** Buffers of the input that are moved to the thread: the caller cannot read them any more. */
  buffersOfInput?(input: Input): readonly ArrayBuffer[];
  /** Buffers of the output that are moved to the caller. */
  buffersOfOutput?(output: Output): readonly ArrayBuffer[];
}

/** From the pool to a thread. */
export interface ThreadRequest {
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
}

/** From a thread to the pool: that its modules are loaded, and then what came of the task. */
export type ThreadReply =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly output: unknown }
  | {
      readonly kind: 'refused';
      readonly error: { kind: PublicErrorKind; message: string; details: readonly unknown[] | undefined };
    }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Cloning an error keeps its message and stack only. */
export const toReply = (error: unknown): ThreadReply =>
  error instanceof PublicError
    ? { kind: 'refused', error: { kind: error.kind, message: error.message, details: error.details } }
    : { kind: 'failed', error };
