// Fixes of times that are relative to the present (`first_seen > last 7d`): a condition compares
// with dates, so the fix names the time that this is now.
import type { Span } from '../errors.js';
import type { Fix } from './suggest.js';

const RELATIVE_TIME =
  /(?<=\b(?:time|first_seen|last_seen|set_at)\s*[<>]=?\s*)(?:last\s+)?(\d{1,4})\s*(mo|[mhdwy]|(?:minute|hour|day|week|month|year)s?)\b/g;

const MINUTE_MS = 60_000;
const UNITS: Readonly<Record<string, { readonly ms?: number; readonly months?: number }>> = {
  mo: { months: 1 },
  y: { months: 12 },
  m: { ms: MINUTE_MS },
  h: { ms: 60 * MINUTE_MS },
  d: { ms: 1440 * MINUTE_MS },
  w: { ms: 7 * 1440 * MINUTE_MS },
};

/** Those of the part that touch the span. */
export function relativeTime(text: string, { part, span, nowMs }: { part: Span; span: Span; nowMs: number }): Fix[] {
  return [...text.slice(part.from, part.to).matchAll(RELATIVE_TIME)].flatMap((match): Fix[] => {
    const from = part.from + match.index;
    const to = from + match[0].length;
    if (span.from > to || span.to < from) return [];
    return [{ span: { from, to }, text: earlier(nowMs, Number(match[1]), match[2] ?? '') }];
  });
}

function earlier(nowMs: number, amount: number, unit: string): string {
  const { ms = 0, months = 0 } = UNITS[/^mo/.test(unit) ? 'mo' : unit.charAt(0)] ?? {};
  const at = new Date(nowMs - amount * ms);
  const day = at.getUTCDate();
  at.setUTCMonth(at.getUTCMonth() - amount * months);
  // From the 31st to the end of a shorter month.
  if (at.getUTCDate() !== day) at.setUTCDate(0);
  return at.toISOString().replace(/\.\d+/, '');
}
