// Ctrl-C and SIGTERM of a command as an AbortSignal, so that it can remove what is incomplete. A
// terminal sends SIGINT to all processes of `npm run`, and npm passes its own on: to the command
// itself where `sh` is bash. One Ctrl-C then arrives twice, some 20 ms apart, and the second signal
// must not end the command while it cleans up.
import { EXIT_INTERRUPTED } from './exit-status.js';

const ECHO_MS = 1000;

/** The first signal aborts it; another one after a second ends the process at once. */
export function createInterruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  let firstMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      firstMs ??= now;
      if (!interrupt.signal.aborted) interrupt.abort();
      else if (now - firstMs > ECHO_MS) process.exit(EXIT_INTERRUPTED);
    });
  }
  return interrupt.signal;
}
