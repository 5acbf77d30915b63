// Times of other languages that are relative to the present: `now() - interval 7 day`, `ago(7d)`.
// A query writes them as a range, `last 7d`.

export const UNIT = '(mo|[mhdwy]|(?:minute|hour|day|week|month|quarter|year)s?)';

/** With the groups amount and unit, once for each of its forms. */
export const PAST =
  String.raw`(?:now(?:\(\))?|current_(?:date|timestamp))\s*-\s*(?:interval\s*)?["']?(\d{1,4})\s*${UNIT}\b["']?` +
  String.raw`|ago\(\s*(\d{1,4})\s*${UNIT}\s*\)` +
  String.raw`|-\s*(\d{1,4})\s*${UNIT}\b` +
  String.raw`|(\d{1,4})\s*${UNIT}\s+ago\b`;

/** `7d` of the groups of PAST. */
export function pastOf(groups: readonly (string | undefined)[]): string {
  const [amount = '', unit = ''] = groups.filter((group) => group !== undefined);
  return unit.length > 2 ? `${amount} ${unit}` : amount + unit;
}

const RECENT = new RegExp(String.raw`^(?:time|timestamp)\s*>=?\s*(?:${PAST})$`, 'i');

/** A condition without the one that is a range, unless it has an `or`. */
export function takeRecent(condition: string): { readonly last?: string; readonly rest: string } {
  if (/\bor\b|\bbetween\b|\|\|/i.test(condition)) return { rest: condition };
  const parts = splitAtAnd(condition.trim());
  const at = parts.findIndex((part) => RECENT.test(part));
  if (at === -1) return { rest: condition };
  const groups = RECENT.exec(parts[at] ?? '')?.slice(1) ?? [];
  return { last: `last ${pastOf(groups)}`, rest: parts.filter((_, index) => index !== at).join(' and ') };
}

/** Splits at each `and` outside of strings and parentheses: `not` may stand before these. */
function splitAtAnd(condition: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [piece] of condition.matchAll(/"[^"]*"|'[^']*'|\s+and\s+|[\s\S]/gi)) {
    if (piece === '(') depth += 1;
    if (piece === ')') depth -= 1;
    if (depth === 0 && /^\s+and/i.test(piece)) parts.push('');
    else parts.push(parts.pop() + piece);
  }
  return parts;
}

/** The day after one that is written 2026-01-31. */
export function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}
