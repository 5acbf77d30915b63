// Property operations of identify calls, and the values that they give.
import { lowerAscii } from '../platform/lower-ascii.js';
import { tryParseNumberText } from '../platform/number-text.js';

export type PropertyValue = string | number | boolean;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** Validated operations; unused ones are absent. */
export interface PropertyOps {
  /** Null removes the key. */
  readonly set?: Readonly<Record<string, PropertyValue | null>>;
  readonly setOnce?: Properties;
  readonly add?: Readonly<Record<string, number>>;
  readonly unset?: readonly string[];
}

/** The result of $add. */
export const addTo = (value: PropertyValue | undefined, increment: number): number =>
  toFinite(numberIn(value) + increment);

/** The value of a number or of text that is a number; any other value counts as 0. */
function numberIn(value: PropertyValue | undefined): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? (tryParseNumberText(value) ?? 0) : 0;
}

/** Clamps a sum to the range of a double, because JSON has no infinity. */
const toFinite = (sum: number): number => Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, sum));

/** E-mail address of a profile: the property `email`, when it is non-empty text. */
export function emailOf(properties: Properties): { email: string | undefined; emailDomain: string | undefined } {
  const email = Object.hasOwn(properties, 'email') ? properties.email : undefined;
  if (typeof email !== 'string' || email === '') return { email: undefined, emailDomain: undefined };
  const at = email.lastIndexOf('@');
  const written = at === -1 ? '' : email.slice(at + 1);
  // Lower-casing would turn U+212A, the Kelvin sign, into k: such a domain must not become that of
  // another address.
  const domain = written.normalize('NFKC') === written ? written.toLowerCase() : lowerAscii(written);
  return { email, emailDomain: domain === '' ? undefined : domain };
}
