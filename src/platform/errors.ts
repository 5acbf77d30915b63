// The public kinds of error and their statuses. Whatever is not a PublicError is a bug: it is logged with its cause and
// answered with a bare 500.

export const STATUS_OF_KIND = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  timed_out: 504,
} as const;

export type PublicErrorKind = keyof typeof STATUS_OF_KIND;

/** An error whose message may be shown to whoever made the request. `details` is sent beside it (query errors). */
export class PublicError extends Error {
  readonly kind: PublicErrorKind;
  readonly details: readonly unknown[] | undefined;

  constructor(kind: PublicErrorKind, message: string, options: { cause?: unknown; details?: readonly unknown[] } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'PublicError';
    this.kind = kind;
    this.details = options.details;
  }

  get status(): number {
    return STATUS_OF_KIND[this.kind];
  }
}

/** An error of a store by its name and code: its words may quote the data, which belongs in no log and no job. */
export const nameFailure = (error: unknown): string =>
  error instanceof Error && 'code' in error ? `${error.name} ${String(error.code)}` : 'unknown';

/** Closes a switch over a union: a new member that is not handled is a type error. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
