// Parser for durations such as `12h`.

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
  w: 7 * 24 * 60 * 60_000,
};

/** Milliseconds; undefined for invalid text. */
export function tryParseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text);
  const unit = UNIT_MS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
