// Public error kinds and their HTTP statuses. Any other error is a bug: logged with its cause and
// answered with a bare 500.

export const STATUS_OF_KIND = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  timed_out: 504,
} as const;

export type PublicErrorKind = keyof typeof STATUS_OF_KIND;

/**
 * An error whose message may be shown to the client. `details` is added to the response (query
 * errors).
 */
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

/** Error of a path that the service does not have: browsers see a page of its own. */
export class NoSuchRoute extends PublicError {
  constructor() {
    super('not_found', 'there is no such route');
  }
}

/**
 * Name and code of a store error, without its message, which may quote data that must not be
 * logged.
 */
export const nameFailure = (error: unknown): string =>
  !(error instanceof Error) ? 'unknown' : 'code' in error ? `${error.name} ${String(error.code)}` : error.name;

/** Refused connections to several addresses are an AggregateError without a message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** Exhaustiveness check: an unhandled member of a union is a type error. */
export function assertNever(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
