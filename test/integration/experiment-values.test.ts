// Results of an experiment of value over the real engine: winsorized means, `cuped` and `guard`,
// against plain loops over the same units.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../bench/random.js';
import { formatLlm } from '../../src/query/markdown.js';
import { type Event, event } from '../oracle/history.js';
import { type Ask, type OracleService, startOracleService, toServiceAnswer } from '../support/oracle-service.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const EXPOSED = NOW - 20 * DAY;

interface Unit {
  readonly id: string;
  readonly variant: string;
  /** Sums of the fortnight before the exposure, and of the week after it. */
  readonly before: number;
  readonly after: number;
  readonly hasError: boolean;
}

function unitsOf(): Unit[] {
  const random = createRandom(5);
  return Array.from({ length: 1500 }, (_, index) => {
    const isNew = index % 3 === 0;
    const taste = random() < 0.4 ? 0 : 10 * random() ** 4 * 10;
    return {
      id: `unit-${index}`,
      variant: isNew ? 'new' : 'control',
      before: Math.round(taste * 4) / 4,
      after: Math.round((taste + random() * 4 + (isNew ? 2 : 0)) * 4) / 4,
      hasError: random() < (isNew ? 0.4 : 0.05),
    };
  });
}

const units = unitsOf();

function eventsOf({ id, variant, before, after, hasError }: Unit): Event[] {
  const at = (type: string, time: number, properties = {}): Event =>
    event({ event_type: type, time, user_id: id, event_properties: properties, insert_id: `${id}-${type}-${time}` });
  return [
    at('service.exposure', EXPOSED, {
      choice_key: 'checkout',
      variant_key: variant,
      variant_weight: variant === 'new' ? 1 : 2,
    }),
    // Outside of both windows.
    at('purchase', EXPOSED - 15 * DAY, { price: 1000 }),
    at('purchase', EXPOSED + 8 * DAY, { price: 1000 }),
    ...(before > 0
      ? [at('purchase', EXPOSED - 13 * DAY, { price: before - 0.25 }), at('purchase', EXPOSED - 1, { price: 0.25 })]
      : []),
    at('purchase', EXPOSED, { price: 0.5 }),
    at('purchase', EXPOSED + 7 * DAY, { price: after - 0.5 }),
    ...(hasError ? [at('error', EXPOSED + DAY)] : []),
  ];
}

let service: OracleService;
let ask: Ask;

beforeAll(async () => {
  service = await startOracleService();
  const history = { events: units.flatMap(eventsOf), mappings: [], profiles: [] };
  const [only] = await service.store([{ history, context: { now: NOW, timezone: 'UTC' } }]);
  if (only === undefined) throw new Error('the history is not stored');
  ask = only;
});

afterAll(() => service?.close());

interface Packet {
  readonly variants: readonly { readonly variant_key: string; readonly rate: number; readonly conversions: number }[];
  readonly comparisons: readonly {
    readonly absolute_lift: number;
    readonly ci_low: number;
    readonly sequential_ci_low: number;
  }[];
  readonly diagnostics: {
    readonly guards?: readonly { event: string; comparisons: readonly Record<string, number>[] }[];
  };
  readonly plan?: Readonly<Record<'units_needed' | 'units_left' | 'units_per_day' | 'days_left', number>>;
  readonly warnings: readonly string[];
  readonly decision_status: string;
  readonly method: { readonly winsorized_at: number | null; readonly variance_removed: number | null };
}

const packetOf = async (stages: string): Promise<Packet> =>
  toServiceAnswer(await ask(`choice checkout | results sum(purchase, price) | ${stages}`)) as unknown as Packet;

const meanOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

function covarianceOf(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [meanOf(left), meanOf(right)];
  return left.reduce((sum, one, index) => sum + (one - a) * ((right[index] ?? 0) - b), 0) / (left.length - 1);
}

function cut(values: readonly number[]): { readonly cap: number; readonly values: number[] } {
  const sorted = [...values].sort((a, b) => a - b);
  const position = 0.999 * (sorted.length - 1);
  const [low = 0, high = 0] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  const cap = low + (position - Math.floor(position)) * (high - low);
  return { cap, values: values.map((value) => Math.min(value, cap)) };
}

const after = cut(units.map((unit) => unit.after));
const before = cut(units.map((unit) => unit.before));
const inVariant = (variant: string, values: readonly number[]): number[] =>
  values.filter((_, index) => units[index]?.variant === variant);

test('means are those of winsorized sums within the window', async () => {
  const packet = await packetOf('window 7d');
  expect(packet.method.winsorized_at).toBeCloseTo(after.cap, 9);
  for (const { variant_key, rate, conversions } of packet.variants) {
    const own = inVariant(variant_key, after.values);
    expect(conversions).toBe(own.length);
    expect(rate).toBeCloseTo(meanOf(own), 9);
  }
  expect(packet.decision_status).toBe('inconclusive');
  const whole = await packetOf('window 7d | winsorize off');
  expect(whole.method.winsorized_at).toBeNull();
  const values = inVariant(
    'new',
    units.map((unit) => unit.after),
  );
  expect(whole.variants[1]?.rate).toBeCloseTo(meanOf(values), 9);
});

test('cuped subtracts the effect of the sum before the exposure', async () => {
  const [plain, adjusted] = [await packetOf('window 7d'), await packetOf('window 7d | cuped 14d')];
  const slopeOf = (variants: readonly string[]): number => {
    const sumOf = (of: (variant: string) => number): number =>
      variants.reduce((sum, variant) => sum + (inVariant(variant, after.values).length - 1) * of(variant), 0);
    const left = sumOf((one) => covarianceOf(inVariant(one, after.values), inVariant(one, before.values)));
    return left / sumOf((one) => covarianceOf(inVariant(one, before.values), inVariant(one, before.values)));
  };
  const slope = slopeOf(['control', 'new']);
  const rest = after.values.map((value, index) => value - slope * (before.values[index] ?? 0));
  const lift = meanOf(inVariant('new', rest)) - meanOf(inVariant('control', rest));
  expect(adjusted.comparisons[0]?.absolute_lift).toBeCloseTo(lift, 9);
  expect(adjusted.variants[1]?.rate).toBeCloseTo(plain.variants[1]?.rate ?? 0, 9);
  expect(adjusted.method.variance_removed).toBeGreaterThan(0.9);
  expect(adjusted.comparisons[0]?.sequential_ci_low).toBeGreaterThan(plain.comparisons[0]?.sequential_ci_low ?? 0);
  expect(adjusted.decision_status).toBe('treatment_better');
});

test('a worse guard adds a warning and does not change the decision', async () => {
  const packet = await packetOf('window 7d | cuped 14d | guard error, (refund, purchase[price > 900])');
  const [errors, none] = packet.diagnostics.guards ?? [];
  const rateIn = (variant: string): number =>
    meanOf(units.filter((unit) => unit.variant === variant).map(({ hasError }) => Number(hasError)));
  expect(errors?.comparisons[0]?.control_rate).toBeCloseTo(rateIn('control'), 12);
  expect(errors?.comparisons[0]?.treatment_rate).toBeCloseTo(rateIn('new'), 12);
  expect(errors?.comparisons[0]?.sequential_ci_low).toBeGreaterThan(0);
  expect(none).toMatchObject({ event: '(refund, purchase[price > 900])', comparisons: [{ treatment_rate: 0 }] });
  expect(packet.warnings.filter((warning) => warning.startsWith('the guard "error" is worse in "new"'))).toHaveLength(
    1,
  );
  expect(packet.decision_status).toBe('treatment_better');
});

test('plan reports remaining units and days from the traffic so far, fewer with cuped', async () => {
  const [plain, adjusted] = [await packetOf('window 7d | plan 5%'), await packetOf('window 7d | cuped 14d | plan 5%')];
  // All units were exposed at one time, twenty days ago.
  expect(plain.plan).toMatchObject({ relative_lift: 0.05, power: 0.8, units_per_day: units.length / 20 });
  const { units_needed: needed = 0, units_left: left, days_left: days } = plain.plan ?? {};
  expect(left).toBe(needed - units.length);
  expect(days).toBe(Math.ceil((needed - units.length) / (units.length / 20)));
  expect(adjusted.plan?.units_needed).toBeLessThan(0.2 * needed);
  const query = 'choice checkout | results sum(purchase, price) | window 7d | plan 5%';
  const text = formatLlm(await ask(query), query);
  expect(text).toContain(
    `Plan: ${left} more units, about ${days} days at 75 a day to show a lift of 5% with 80% power`,
  );
});

test('guards work for results of conversions', async () => {
  const answer = toServiceAnswer(await ask('choice checkout | results purchase | window 7d | guard error'));
  const packet = answer as unknown as Packet;
  expect(packet.diagnostics.guards?.[0]?.comparisons[0]?.sequential_ci_low).toBeGreaterThan(0);
});
