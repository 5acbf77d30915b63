// Asks a process at an address of the settings whether it is ready.
import { messageOf } from '../platform/errors.js';

const READY_WITHIN_MS = 4000;

/** Why the process is not ready; undefined when it is. */
export async function findUnready(name: string, url: string): Promise<string | undefined> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(READY_WITHIN_MS) });
    const text = await response.text();
    return response.ok ? undefined : `${name} at ${url} answers ${response.status}: ${text.slice(0, 200)}`;
  } catch (error) {
    return `${name} at ${url} cannot be reached: ${reasonOf(error)}`;
  }
}

/** The cause of `fetch failed`. */
export const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
