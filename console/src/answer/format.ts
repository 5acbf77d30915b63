// Formats numbers, times and shares for display: compact and exact numbers, durations, percentages.

export { change, percent } from '../../../src/query/shares.js';

const THIN = '\u202f';

/**
 * 12,340 → `12.3 k`: for charts and headlines. The exact number stands in the table and under the
 * pointer. `most` is the number whose size decides: that of an axis, so that its numbers are alike.
 */
export function compact(value: number, most = value): string {
  if (value === 0) return '0';
  const size = Math.abs(most);
  if (size >= 999_950_000_000_000) return SCIENTIFIC.format(value);
  if (size >= 999_950_000_000) return `${trim(value / 1e12)}${THIN}T`;
  if (size >= 999_950_000) return `${trim(value / 1e9)}${THIN}G`;
  if (size >= 999_950) return `${trim(value / 1e6)}${THIN}M`;
  if (size >= 10_000) return `${trim(value / 1e3)}${THIN}k`;
  if (size >= 1000) return value.toLocaleString('en', { maximumFractionDigits: 0 });
  if (size >= 100) return trim(value);
  return size >= 0.0001 ? SMALL.format(value) : SCIENTIFIC.format(value);
}

/** Numbers near zero keep two digits: 0.0005 is not 0. */
const SMALL = new Intl.NumberFormat('en', {
  maximumFractionDigits: 2,
  maximumSignificantDigits: 2,
  roundingPriority: 'morePrecision',
});
const SCIENTIFIC = new Intl.NumberFormat('en', { notation: 'scientific', maximumFractionDigits: 1 });

const trim = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

const EXACT = new Intl.NumberFormat('en', {
  maximumFractionDigits: 6,
  maximumSignificantDigits: 6,
  roundingPriority: 'morePrecision',
});

export const exact = (value: number): string => EXACT.format(value);

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** 204 → `3 min 24 s`: the two largest units. */
export function duration(exactSeconds: number): string {
  const seconds = exactSeconds < 10 ? exactSeconds : Math.round(exactSeconds);
  const index = UNITS.findIndex(([, size]) => seconds >= size);
  if (index < 0) return `${seconds.toLocaleString('en', { maximumFractionDigits: 1 })}${THIN}s`;
  const [unit, size] = UNITS[index] ?? ['min', 60];
  const [nextUnit, nextSize] = UNITS[index + 1] ?? ['s', 1];
  const whole = Math.floor(seconds / size);
  const rest = Math.floor((seconds - whole * size) / nextSize);
  return rest === 0 ? `${whole}${THIN}${unit}` : `${whole}${THIN}${unit} ${rest}${THIN}${nextUnit}`;
}

/** 204 → `3.4 min`: as short as an axis needs it, in the unit of its `step`. */
export function shortDuration(seconds: number, step = seconds): string {
  const [unit, size] = UNITS.find(([, least]) => step >= least) ?? ['s', 1];
  return `${trim(seconds / size)}${THIN}${unit}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats are expensive to make, and a table needs thousands. */
function formatIn(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = newFormat(timeZone, options);
    formats.set(key, format);
  }
  return format;
}

/** The server refuses an unknown zone; until its error is shown, times are in UTC. */
function newFormat(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
  } catch {
    return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
  }
}

const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

export const instant = (iso: string, timeZone: string): string =>
  formatIn(timeZone, { ...DAY, ...CLOCK, second: '2-digit' }).format(new Date(iso));

export const minute = (iso: string, timeZone: string): string =>
  formatIn(timeZone, { ...DAY, ...CLOCK }).format(new Date(iso));

export const clock = (iso: string, timeZone: string): string => formatIn(timeZone, CLOCK).format(new Date(iso));

/** `GMT+2` */
export const zoneOffset = (iso: string, timeZone: string): string =>
  formatIn(timeZone, { timeZoneName: 'shortOffset' })
    .formatToParts(new Date(iso))
    .find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** `2026-11-20` of a zone, for comparing and grouping. */
export function localDate(iso: string, timeZone: string): string {
  const parts = formatIn(timeZone, { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(new Date(iso));
  const of = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}`;
}

export const day = (date: string, withWeekday = false): string =>
  formatIn('UTC', { ...DAY, ...(withWeekday && { weekday: 'short' }) }).format(new Date(`${date}T00:00:00Z`));

export const monthAndDay = (date: string): string =>
  formatIn('UTC', { day: 'numeric', month: 'short' }).format(new Date(`${date}T00:00:00Z`));

export const month = (date: string): string =>
  formatIn('UTC', { month: 'short', year: 'numeric' }).format(new Date(`${date}T00:00:00Z`));

export const period = (text: string, timeZone: string): string => {
  const [from = '', to = ''] = text.split('/');
  return `${minute(from, timeZone)} – ${minute(to, timeZone)}`;
};
