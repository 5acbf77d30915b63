// The people of the demo shop: where they live, how they came, whether they sign up, and when they
// visit with which device. Pure: a person depends on the seed, the index and the end alone.
import { type createDayPicker, DAY_MS, DAYS, isVisitDay, pickTime, startOfDay } from './calendar.js';
import {
  BROWSERS,
  type Browser,
  CHANNELS,
  type Channel,
  COMPANIES,
  COUNTRIES,
  type Country,
  FIRST_NAMES,
  LAST_NAMES,
  PLANS,
  type Plan,
} from './catalog.js';
import { createRandom, type Random } from './random.js';
import { CHECKOUT_BUG, SALE } from './stories.js';

export interface Device {
  readonly id: string;
  readonly browser: Browser;
  /** From when on it has the browser version with the bug. */
  readonly updatedAtMs: number;
}

export interface User {
  readonly id: string;
  readonly plan: Plan;
  readonly company: string | undefined;
  readonly properties: Readonly<Record<string, string | number>>;
}

export interface Person {
  readonly index: number;
  readonly country: Country;
  readonly address: string;
  readonly channel: Channel;
  /** Absent for those who never sign up. */
  readonly user: User | undefined;
  readonly devices: readonly Device[];
  /** Index of the variant of the experiment. */
  readonly variant: number;
  /** Visits in the order of their times. */
  readonly visits: readonly Visit[];
}

export interface Visit {
  readonly timeMs: number;
  readonly device: Device;
  readonly kind: 'anonymous' | 'sign-up' | 'signed-in';
  readonly isFirst: boolean;
}

/** Days between two visits of a user, and of others who come back, at most. */
const GAP_DAYS = { user: [1, 11], other: [1, 20] } as const;
const VISITS_OF_USER = [4, 15] as const;
const RETURN_RATE = 0.32;
const SECOND_DEVICE_RATE = 0.2;
/** Users who sign up on their first visit; the others on their second. */
const SIGN_UP_AT_ONCE_RATE = 0.6;
/** Users who were customers before the 90 days, and how long before at most. */
const EARLIER_RATE = 0.3;
const EARLIER_DAYS = 60;

export interface PeopleSource {
  readonly seed: string;
  readonly endMs: number;
  readonly pickDay: ReturnType<typeof createDayPicker>;
}

export function createPerson({ seed, endMs, pickDay }: PeopleSource, index: number): Person {
  const random = createRandom(`${seed}/person/${index}`);
  const channel = random.weighted(CHANNELS, ({ weight }) => weight);
  const country = random.weighted(COUNTRIES, ({ weight }) => weight);
  const user = random.chance(channel.signUpRate) ? createUser(random, index, country) : undefined;
  const deviceCount = user !== undefined && random.chance(SECOND_DEVICE_RATE) ? 2 : 1;
  const devices = Array.from({ length: deviceCount }, (_, number) =>
    createDevice(random, `${seed}-d${index}-${number}`, endMs),
  );
  const [first, last] = channel.days ?? [0, DAYS - 1];
  const isEarlier = user !== undefined && first === 0 && random.chance(EARLIER_RATE);
  const firstDay = isEarlier ? -random.integer(1, EARLIER_DAYS) : pickDay(random, first, last);
  const base = { index, country, channel, user, devices, variant: random.integer(0, 1) };
  const address = `${country.network}.${random.integer(1, 254)}`;
  return { ...base, address, visits: planVisits(random, base, { firstDay, endMs }) };
}

function createDevice(random: Random, id: string, endMs: number): Device {
  const updateDay = CHECKOUT_BUG.firstDay + random.next() * CHECKOUT_BUG.installedWithinDays;
  return {
    id,
    browser: random.weighted(BROWSERS, ({ weight }) => weight),
    updatedAtMs: startOfDay(endMs, 0) + Math.floor(updateDay * DAY_MS),
  };
}

function createUser(random: Random, index: number, country: Country): User {
  const plan = random.weighted(PLANS, ({ weight }) => weight);
  const company = plan.isOfCompany ? random.pick(COMPANIES) : undefined;
  const first = random.pick(FIRST_NAMES);
  const last = random.pick(LAST_NAMES);
  const domain = company === undefined ? 'mail.example' : `${toWord(company)}.example`;
  return {
    id: `customer-${index}`,
    plan,
    company,
    properties: {
      email: `${toWord(first)}.${toWord(last)}.${index}@${domain}`,
      name: `${first} ${last}`,
      plan: plan.name,
      country: country.geo.country,
      ...(company !== undefined && { company, seats: random.integer(plan.quantity[0], plan.quantity[1]) }),
    },
  };
}

const toWord = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

function planVisits(
  random: Random,
  person: Omit<Person, 'address' | 'visits'>,
  { firstDay, endMs }: { readonly firstDay: number; readonly endMs: number },
): Visit[] {
  const { user, devices, country } = person;
  const signUpVisit = user === undefined ? Number.POSITIVE_INFINITY : random.chance(SIGN_UP_AT_ONCE_RATE) ? 0 : 1;
  const [gapMin, gapMax] = user === undefined ? GAP_DAYS.other : GAP_DAYS.user;
  const count = countVisits(random, user, firstDay);
  const days: number[] = [];
  for (let day = firstDay; days.length < count && day < DAYS; day += random.integer(gapMin, gapMax)) {
    if (days.length > 0) while (day < DAYS - 1 && !isVisitDay(random, endMs, day)) day += 1;
    days.push(day);
  }
  if (user !== undefined && (days[signUpVisit] ?? DAYS) < SALE.days[0] && random.chance(SALE.customerRate)) {
    days.push(random.integer(...SALE.days));
  }
  const visits = days.map((day, number): Visit => {
    const timeMs = pickTime(random, startOfDay(endMs, day), country.utcOffsetHours);
    const device = number > signUpVisit ? random.pick(devices) : devices[0];
    if (device === undefined) throw new Error(`person ${person.index} has no device`);
    const kind = number < signUpVisit ? 'anonymous' : number === signUpVisit ? 'sign-up' : 'signed-in';
    return { timeMs, device, kind, isFirst: number === 0 };
  });
  return visits.filter(({ timeMs }) => timeMs >= endMs - DAYS * DAY_MS && timeMs < endMs);
}

function countVisits(random: Random, user: User | undefined, firstDay: number): number {
  if (user === undefined) return random.chance(RETURN_RATE) ? random.integer(2, 3) : 1;
  const earlier = Math.round(Math.max(0, -firstDay) / GAP_DAYS.user[1]);
  return earlier + Math.round(random.integer(...VISITS_OF_USER) * user.plan.visitFactor);
}
