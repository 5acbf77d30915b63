// Fixes of times that are relative to the present (`first_seen > last 7d`, `since yesterday`): a
// condition compares with dates, so the fix names the time that this is now.
import type { Span } from '../errors.js';
import { subtractMonths } from '../time/range.js';
import { wallTimeAt } from '../time/timezone.js';
import { PAST, pastOf, UNIT } from './past.js';
import type { Fix } from './suggest.js';

/** The present, and the zone of the dates of the query. */
export interface Now {
  readonly nowMs: number;
  readonly timezone: string;
}

const TIME_BEFORE = String.raw`\b(?:time|first_seen|last_seen|set_at)\s*[<>]=?\s*`;
const RECENT = String.raw`(?:last\s+)?(\d{1,4})\s*${UNIT}\b(?!\s+ago)`;
const RELATIVE_TIME = new RegExp(
  String.raw`(?<=${TIME_BEFORE})(?:(now|today|yesterday)\b(?:\(\))?(?!\s*[-+(])|${PAST}|${RECENT})` +
    String.raw`|(?<=\b(?:since|from|to)\s+)(today|yesterday)\b`,
  'gi',
);

const MINUTE_MS = 60_000;
const UNITS: Readonly<Record<string, { readonly ms?: number; readonly months?: number }>> = {
  mo: { months: 1 },
  q: { months: 3 },
  y: { months: 12 },
  m: { ms: MINUTE_MS },
  h: { ms: 60 * MINUTE_MS },
  d: { ms: 1440 * MINUTE_MS },
  w: { ms: 7 * 1440 * MINUTE_MS },
};

/** Those of the part that touch the span. */
export function relativeTime(text: string, { part, span, now }: { part: Span; span: Span; now: Now }): Fix[] {
  return [...text.slice(part.from, part.to).matchAll(RELATIVE_TIME)].flatMap((match): Fix[] => {
    const from = part.from + match.index;
    const to = from + match[0].length;
    if (span.from > to || span.to < from) return [];
    const [, word, ...rest] = match;
    return [{ span: { from, to }, text: momentOf(word ?? rest.pop(), rest, now) }];
  });
}

function momentOf(word: string | undefined, past: readonly (string | undefined)[], { nowMs, timezone }: Now): string {
  if (word?.toLowerCase() === 'now') return earlier(nowMs, 0, 'd');
  if (word !== undefined) {
    const offset = word.toLowerCase() === 'today' ? 0 : -1;
    const { year, month, day } = wallTimeAt(nowMs, timezone);
    return new Date(Date.UTC(year, month - 1, day + offset)).toISOString().slice(0, 10);
  }
  const [, amount, unit = ''] = /^(\d+)\s*(.*)$/.exec(pastOf(past)) ?? [];
  return earlier(nowMs, Number(amount), unit.toLowerCase());
}

function earlier(nowMs: number, amount: number, unit: string): string {
  const { ms = 0, months = 0 } = UNITS[/^mo/.test(unit) ? 'mo' : unit.charAt(0)] ?? {};
  return new Date(subtractMonths(nowMs - amount * ms, amount * months)).toISOString().replace(/\.\d+/, '');
}
