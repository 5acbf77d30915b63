// Annotations of a project: moments that explain a change in its numbers, such as a release.
// Answers whose range covers one name it.
import { instantOf } from './time/timezone.js';

export interface Annotation {
  /** A day, `2026-11-01`, of the time zone of the query; or an instant in RFC 3339. */
  readonly at: string;
  readonly text: string;
}

export interface CoveredAnnotation extends Annotation {
  /** Unix milliseconds of the instant, or of the beginning of the day. */
  readonly timeMs: number;
}

/** Annotations of one answer. */
export const ANNOTATIONS_SHOWN = 50;

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Whether the text is a day of the calendar, or an instant. */
export function isMoment(text: string): boolean {
  if (INSTANT.test(text)) return !Number.isNaN(Date.parse(text));
  if (!DAY.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

/** Annotations in the range, ordered by time. A day counts when a part of it is in the range. */
export function annotationsIn(
  annotations: readonly Annotation[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  timezone: string,
): readonly CoveredAnnotation[] {
  const covered = annotations.flatMap((annotation): CoveredAnnotation[] => {
    const [timeMs, endMs] = spanOf(annotation.at, timezone);
    return timeMs < toMs && endMs >= fromMs ? [{ ...annotation, timeMs }] : [];
  });
  return covered.sort((a, b) => a.timeMs - b.timeMs);
}

/** The first and the last millisecond. */
function spanOf(at: string, timezone: string): readonly [number, number] {
  const [, year, month, day] = (DAY.exec(at) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) {
    const instantMs = Date.parse(at);
    return [instantMs, instantMs];
  }
  const date = { year, month, day };
  return [instantOf(date, timezone), instantOf({ ...date, day: day + 1 }, timezone) - 1];
}
