// The user id in a request for export or erasure: its length and characters.
import { ID_LENGTH_MAX, isWithinLength } from '../ingest/limits.js';
import { PublicError } from '../platform/errors.js';

/** Throws bad_request for a text that no event or profile can have as its user id. */
export function requireUserId(text: string): string {
  const isPossible = text !== '' && isWithinLength(text, ID_LENGTH_MAX) && !text.includes('\0');
  if (!isPossible) throw new PublicError('bad_request', `a user id has 1 to ${ID_LENGTH_MAX} characters, and no NUL`);
  return text;
}
