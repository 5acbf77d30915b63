// Retry of a screen that has asked for several things: asks again for all that failed.

interface Requested {
  readonly error: unknown;
  readonly refetch: () => Promise<unknown>;
}

export const retryFailed =
  (requests: readonly Requested[]): (() => void) =>
  () => {
    for (const { error, refetch } of requests) if (error !== null) void refetch();
  };
