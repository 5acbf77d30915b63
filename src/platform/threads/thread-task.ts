// Task for a thread of the pool (thread-pool.ts): a function in an exported constant, which a
// thread finds by module and export name. Input and output are copied between threads, and listed
// buffers are moved: plain data, no functions.
import { PublicError, type PublicErrorKind } from '../errors.js';

export interface ThreadTask<Input, Output> {
  /** `import.meta.url` of the module that exports the task. */
  readonly module: string;
  /** Name of the export. */
  readonly name: string;
  /** A PublicError that it throws reaches the caller unchanged. */
  run(input: Input): Output | Promise<Output>;
  /**
   * Error message when a thread exceeds its time or memory: what is too large, and what to narrow:
   * `…; send fewer …`.
   */
  readonly tooCostly: string;
  /** Buffers of the input that are moved to the thread: the caller can no longer read them. */
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

/** Messages from a thread to the pool: its modules are loaded, and then the result of the task. */
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
