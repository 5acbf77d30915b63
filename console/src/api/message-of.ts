// What a person reads when an action has failed.
import { isPassing } from './request.js';

/**
 * `action` is the name of the control that was used. It is named when the service failed; when it
 * refused what was typed, its own words say what is wrong.
 */
export function messageOf(error: unknown, action?: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return action !== undefined && isPassing(error) ? `“${action}” failed: ${message}` : message;
}
