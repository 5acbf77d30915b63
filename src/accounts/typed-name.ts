// Names that a person types as a confirmation before something ends.
import { PublicError } from '../platform/errors.js';

/** Throws bad_request for the first field of `typed` that is not `name`, the name of the `what`. */
export function requireTypedName(
  typed: Readonly<Record<string, string>>,
  { name, what }: { name: string; what: 'project' | 'organization' },
): void {
  const wrong = Object.keys(typed).find((field) => typed[field] !== name);
  if (wrong !== undefined) throw new PublicError('bad_request', `${wrong} is not the name of the ${what}`);
}
