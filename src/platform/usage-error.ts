// Errors of a command line.

/** Invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Also those of `parseArgs`: an unknown option, or one without its value. */
export const isUsageError = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'));
