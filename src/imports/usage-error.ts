// Error of the command line of an import.

/** Invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
