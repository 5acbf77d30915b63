// Experiments of a project from two answers: people by choice and variant, and exposures by day and
// choice.
import type { Answer } from '../api/answer.js';
import { serviceNow } from '../api/clock.js';

const KEY = 'event_properties.choice_key';
const VARIANT = 'event_properties.variant_key';

export const PEOPLE = `service.exposure | last 90d | unique by ${KEY}, ${VARIANT}`;
export const BY_DAY = `service.exposure | last 90d | count by day, ${KEY}`;

export interface Summary {
  readonly key: string;
  /** The one named control first, then by name. */
  readonly variants: readonly { readonly key: string; readonly people: number }[];
  readonly people: number;
  readonly days: readonly { readonly day: string; readonly count: number }[];
}

/** The one with the latest exposure first. Exposures without a key are none of an experiment. */
export function toSummaries(people: Answer, byDay: Answer): readonly Summary[] {
  const summaries = new Map<
    string,
    { key: string; variants: { key: string; people: number }[]; days: Summary['days'][number][] }
  >();
  for (const row of people.rows) {
    if (row[KEY] === null) continue;
    const key = String(row[KEY]);
    const summary = summaries.get(key) ?? { key, variants: [], days: [] };
    summary.variants.push({ key: row[VARIANT] === null ? '' : String(row[VARIANT]), people: Number(row.unique_count) });
    summaries.set(key, summary);
  }
  for (const row of byDay.rows) {
    summaries.get(String(row[KEY]))?.days.push({ day: String(row.day), count: Number(row.count) });
  }
  const rank = (key: string): number => (key === 'control' ? 0 : 1);
  return [...summaries.values()]
    .map((summary) => ({
      ...summary,
      variants: summary.variants.sort((a, b) => rank(a.key) - rank(b.key) || (a.key < b.key ? -1 : 1)),
      people: summary.variants.reduce((sum, variant) => sum + variant.people, 0),
    }))
    .sort((a, b) => lastDay(b).localeCompare(lastDay(a)) || (a.key < b.key ? -1 : 1));
}

export const lastDay = ({ days }: Pick<Summary, 'days'>): string => days.at(-1)?.day ?? '';

const DAY_MS = 86_400_000;
const QUIET_DAYS = 3;

/** Whether people were exposed in the last days. */
export const isRunning = (summary: Pick<Summary, 'days'>, nowMs = serviceNow()): boolean =>
  nowMs - Date.parse(lastDay(summary)) < (QUIET_DAYS + 1) * DAY_MS;
