// Set-up of an experiment's results (goal, measure, window, guards): kept in the URL fragment, and
// converted to the query `choice … | results …`.
import { nameText } from '../language/names.js';

export const RANGES = ['last 7d', 'last 14d', 'last 30d', 'last 90d'] as const;
export const WINDOWS = ['1d', '7d', '14d', '30d'] as const;
/** Relative lifts that are worth finding; `off` plans nothing. */
export const PLANS = ['5%', '10%', '20%', '50%', 'off'] as const;
export const MEASURES = ['converted', 'sum', 'avg'] as const;
export type Measure = (typeof MEASURES)[number];

export interface Setup {
  /** Undefined until one is chosen: it is then guessed from the events of the project. */
  readonly goal: string | undefined;
  readonly measure: Measure;
  /** Property of the goal that `sum` and `avg` read. */
  readonly property: string;
  readonly range: (typeof RANGES)[number];
  readonly window: (typeof WINDOWS)[number];
  readonly plan: (typeof PLANS)[number];
  readonly guards: readonly string[];
}

const oneOf = <T extends string>(names: readonly T[], text: string | null, otherwise: T): T =>
  names.find((name) => name === text) ?? otherwise;

export function parseSetup(fragment: string): Setup {
  const of = new URLSearchParams(fragment.replace(/^#/, ''));
  return {
    goal: of.get('goal') ?? undefined,
    measure: oneOf(MEASURES, of.get('measure'), 'converted'),
    property: of.get('property') ?? '',
    range: oneOf(RANGES, of.get('range'), 'last 30d'),
    window: oneOf(WINDOWS, of.get('window'), '7d'),
    plan: oneOf(PLANS, of.get('plan'), '10%'),
    guards: of.getAll('guard'),
  };
}

export function formatSetup({ goal, measure, property, range, window, plan, guards }: Setup): string {
  const of = new URLSearchParams(goal === undefined ? {} : { goal });
  if (measure !== 'converted') of.set('measure', measure);
  if (measure !== 'converted' && property !== '') of.set('property', property);
  if (range !== 'last 30d') of.set('range', range);
  if (window !== '7d') of.set('window', window);
  if (plan !== '10%') of.set('plan', plan);
  for (const guard of guards) of.append('guard', guard);
  return `#${of}`;
}

/** Undefined while a value lacks its property. */
export function resultsQuery(key: string, setup: Setup & { readonly goal: string }): string | undefined {
  const { goal, measure, property, range, window, plan, guards } = setup;
  if (measure !== 'converted' && property === '') return undefined;
  const result = measure === 'converted' ? nameText(goal) : `${measure}(${nameText(goal)}, ${nameText(property)})`;
  const stages = [`choice ${nameText(key)}`, `results ${result}`, range];
  if (window !== '7d') stages.push(`window ${window}`);
  if (guards.length > 0) stages.push(`guard ${guards.map(nameText).join(', ')}`);
  if (plan !== 'off') stages.push(`plan ${plan}`);
  return stages.join(' | ');
}

export const exposuresQuery = (key: string, { range }: Pick<Setup, 'range'>): string =>
  `choice ${nameText(key)} | ${range} | unique by day, variant_key`;

/** Words of events that end well for a business, the clearest first. */
const GOALS = [
  /purchas|order|paid|payment_succ|checkout_comp/i,
  /subscri|upgrade|convert|trial/i,
  /sign_?up|register/i,
];
const BAD = /error|fail|cancel|refund|abandon|crash|exposure|^page_?view$/i;

/** An event that may be the goal: by its name, else the rarest that is no failure. */
export function guessGoal(events: readonly string[]): string | undefined {
  const candidates = events.filter((name) => !BAD.test(name) && !name.startsWith('service.'));
  return (
    GOALS.map((words) => candidates.find((name) => words.test(name))).find((name) => name !== undefined) ??
    candidates.at(-1)
  );
}
