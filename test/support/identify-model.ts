// Reference implementation of identify calls: applies them one after the other. Independent of the
// code under test. Also generates random calls.

export type Value = string | number | boolean;

export interface Call {
  readonly user_id: string;
  readonly device_id?: string;
  readonly user_properties?: Readonly<Record<string, Value | null>>;
  readonly user_property_ops?: {
    readonly $set?: Readonly<Record<string, Value | null>>;
    readonly $set_once?: Readonly<Record<string, Value>>;
    readonly $add?: Readonly<Record<string, number>>;
    readonly $unset?: readonly string[];
  };
}

export interface ModelProfile {
  readonly properties: Record<string, Value>;
  readonly email: string | null;
  readonly email_domain: string | null;
  /** Milliseconds. */
  readonly first_seen: number;
  readonly last_seen: number;
}

export interface Model {
  readonly profiles: Record<string, ModelProfile>;
  readonly mappings: Record<string, string>;
}

/** `calls` in the order of acceptance, each with its sequence number in microseconds. */
export function applyInOrder(calls: readonly { seq: number; call: Call }[]): Model {
  const people = new Map<string, { properties: Record<string, Value>; first: number; last: number }>();
  const mappings: Record<string, string> = {};
  for (const { seq, call } of calls) {
    if (call.device_id !== undefined) mappings[call.device_id] = call.user_id;
    const now = Math.floor(seq / 1000);
    const person = people.get(call.user_id) ?? { properties: {}, first: now, last: now };
    people.set(call.user_id, person);
    person.last = now;
    const { properties } = person;
    const ops = call.user_property_ops ?? {};
    for (const changes of [call.user_properties ?? {}, ops.$set ?? {}]) {
      for (const key in changes) {
        const value = changes[key];
        if (value === null || value === undefined) delete properties[key];
        else properties[key] = value;
      }
    }
    for (const key in ops.$set_once) if (!(key in properties)) properties[key] = ops.$set_once[key] as Value;
    for (const key in ops.$add) {
      const before = properties[key];
      const isNumeric = typeof before === 'number' || (typeof before === 'string' && /^\d+$/.test(before));
      properties[key] = (isNumeric ? Number(before) : 0) + (ops.$add[key] as number);
    }
    for (const key of ops.$unset ?? []) delete properties[key];
  }
  const profiles = [...people].map(([user, { properties, first, last }]) => [
    user,
    { properties, ...addressIn(properties), first_seen: first, last_seen: last },
  ]);
  return { profiles: Object.fromEntries(profiles), mappings };
}

function addressIn({ email }: Record<string, Value>): Pick<ModelProfile, 'email' | 'email_domain'> {
  if (typeof email !== 'string' || email === '') return { email: null, email_domain: null };
  const parts = email.split('@');
  return { email, email_domain: parts.length < 2 ? null : (parts.at(-1) ?? '').toLowerCase() };
}

const USERS = ['ann', 'ben', 'cem', 'dee', '7', '😀'.repeat(512)];
const DEVICES = Array.from({ length: 8 }, (_, index) => `device ${index}`);
const KEYS = ['plan', 'visits', 'score', 'email'];
const VALUES: readonly Value[] = ['pro', 'x@Shop.Example', 'no address', '12', '', 3, 0.1, -2.5, true, false];

/** A call whose result depends on earlier ones. `mark` distinguishes it from all others. */
export function randomCall(random: () => number, mark: number): Call {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const changes = <T>(value: () => T): Record<string, T> => ({ [pick(KEYS)]: value(), [pick(KEYS)]: value() });
  const orNull = () => (random() < 0.15 ? null : pick(VALUES));
  return {
    user_id: pick(USERS),
    ...(random() < 0.6 && { device_id: pick(DEVICES) }),
    ...(random() < 0.3 && { user_properties: changes(orNull) }),
    user_property_ops: {
      $set: { ...(random() < 0.2 && changes(orNull)), mark },
      ...(random() < 0.3 && { $set_once: changes(() => pick(VALUES)) }),
      // Fractions, whose sum depends on the order; every call counts once.
      $add: { calls: 1, sum: random(), ...(random() < 0.4 && changes(() => random() * 10)) },
      ...(random() < 0.2 && { $unset: [pick(KEYS)] }),
    },
  };
}
