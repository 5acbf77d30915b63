// Applies the property operations of one identify call in their fixed order: $set (user_properties
// included), $set_once, $add, $unset.
import { lowerAscii } from '../accounts/addresses.js';
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

export function applyPropertyOps(properties: Map<string, PropertyValue>, ops: PropertyOps): void {
  for (const [key, value] of Object.entries(ops.set ?? {})) {
    if (value === null) properties.delete(key);
    else properties.set(key, value);
  }
  for (const [key, value] of Object.entries(ops.setOnce ?? {})) {
    if (!properties.has(key)) properties.set(key, value);
  }
  for (const [key, increment] of Object.entries(ops.add ?? {})) {
    properties.set(key, toFinite(numberIn(properties.get(key)) + increment));
  }
  for (const key of ops.unset ?? []) properties.delete(key);
}

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
