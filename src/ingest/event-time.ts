// Parses the `time` of an event: RFC 3339 and ISO 8601 text, or epoch numbers. Values that are
// invalid or out of bounds count as absent.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const EARLIEST_MS = Date.UTC(2000, 0, 1);
// Smaller numbers are seconds, others milliseconds: the year 5138 in seconds, March 1973 in
// milliseconds.
const SECONDS_BELOW = 100_000_000_000;

const OFFSET = String.raw`([Zz]|[+-]\d{2}(?::?\d{2})?)?`;
const FRACTION = String.raw`(?:[.,](\d+))?`;
const EXTENDED = new RegExp(
  String.raw`^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2})(?::(\d{2})(?::(\d{2})${FRACTION})?)?\s?${OFFSET})?$`,
);
/**
 * Basic format, without separators. A date alone does not match, because its digits could be any
 * number.
 */
const BASIC = new RegExp(String.raw`^(\d{4})(\d{2})(\d{2})[Tt](\d{2})(?:(\d{2})(?:(\d{2})${FRACTION})?)?${OFFSET}$`);

/**
 * Milliseconds since the epoch; undefined when absent, unparseable, before 2000 or more than 24 h
 * after `now`. Text without an offset is UTC; fractions are truncated to milliseconds.
 */
export function tryParseEventTime(value: unknown, now: number): number | undefined {
  const time =
    typeof value === 'string'
      ? (tryParseUsual(value) ?? tryParseIso(value))
      : typeof value === 'number'
        ? fromEpoch(value)
        : undefined;
  return time !== undefined && isStorable(time, now) ? time : undefined;
}

/** Whether an event may have this time: from 2000 to 24 h after `now`. */
export const isStorable = (timeMs: number, now: number): boolean => timeMs >= EARLIEST_MS && timeMs <= now + DAY_MS;

const fromEpoch = (value: number): number => Math.trunc(value < SECONDS_BELOW ? value * 1000 : value);

// The day of the last text in the usual form: most events of a request are of one day.
let lastDay = '';
let lastDayMs = 0;

/**
 * Fast path for `2026-11-24T10:00:00.000Z`, which Date.toISOString writes and most clients send: at
 * a tenth of the cost. Undefined for all other texts.
 */
function tryParseUsual(text: string): number | undefined {
  if (text.length !== 24 || !isUsualForm(text)) return undefined;
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const milliseconds = twoDigits(text, 20) * 10 + digit(text, 22);
  // A comparison with NaN, which is what other characters give, is false.
  if (!(hour <= 23 && minute <= 59 && second <= 59 && milliseconds <= 999)) return undefined;
  if (!text.startsWith(lastDay) || lastDay === '') {
    const day = text.slice(0, 10);
    const dayMs = tryParseIso(day);
    if (dayMs === undefined) return undefined;
    lastDay = day;
    lastDayMs = dayMs;
  }
  return lastDayMs + ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
}

const isUsualForm = (text: string): boolean =>
  text[10] === 'T' && text[13] === ':' && text[16] === ':' && text[19] === '.' && text[23] === 'Z';

const twoDigits = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1);

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 0x30;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function tryParseIso(text: string): number | undefined {
  const match = EXTENDED.exec(text) ?? BASIC.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)));
  // Date.UTC rolls February 30 over into March; such a date is invalid.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  const shift = offsetMinutes(offset);
  if (shift === undefined) return undefined;
  const time = date.getTime() - shift * MINUTE_MS + Number(second) * 1000;
  // A leap second is the last second of a day, and counts as the first of the next.
  if (second === '60' && time % DAY_MS !== 0) return undefined;
  return time + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function offsetMinutes(offset: string): number | undefined {
  if (offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
