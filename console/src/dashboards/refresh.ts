// How often a dashboard is read again by itself, as its document says. Pure.

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** A browser takes a longer interval for none, and would read without a pause. */
const INTERVAL_MS_MAX = 2 ** 31 - 1;

/** Undefined for a document that does not say it. */
export function refreshMs(every = ''): number | undefined {
  const [, amount, unit = ''] = /^(\d+)([smh])$/.exec(every) ?? [];
  return amount === undefined ? undefined : Math.min(Number(amount) * (UNIT_MS[unit] ?? 0), INTERVAL_MS_MAX);
}
