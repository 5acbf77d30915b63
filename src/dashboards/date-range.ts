// A time range that a viewer chose, as the query language spells it. What is written into the query is spelled anew from what
// was understood, so that nothing else of the viewer's text gets there.

import { assertNever } from '../platform/errors.js';
import { analyze } from '../query/analyze/analyze.js';
import { isTimeStage } from '../query/analyze/stages.js';
import type { TimeStage } from '../query/analyze/time-range.js';
import { parse } from '../query/parse/parse.js';
import { quoteText } from '../query/parse/strings.js';

export const RANGE_FORM = 'a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01';

// Whether a range has a meaning depends on neither.
const ANY_MOMENT = { nowMs: Date.UTC(2026, 0, 1), timezone: 'UTC' };

/** Longer than any range, with blanks to spare. */
const LENGTH_MAX = 200;

/** `last 7d` and the like; undefined for what is no range. */
export function trySpellRange(text: string): string | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const { query, problems } = parse(`* | ${text}`);
  const [stage, ...others] = query.stages;
  if (problems.length > 0 || stage === undefined || others.length > 0 || !isTimeStage(stage)) return undefined;
  const spelled = spell(stage);
  const again = parse(`* | ${spelled}`);
  const isRange = again.problems.length === 0 && analyze(again.query, ANY_MOMENT).problems.length === 0;
  return isRange ? spelled : undefined;
}

function spell(stage: TimeStage): string {
  switch (stage.kind) {
    case 'last':
      return `last ${stage.duration.amount}${stage.duration.unit}`;
    case 'from_to':
      return `from ${quoteText(stage.from.text)} to ${quoteText(stage.to.text)}`;
    case 'named_range':
      return stage.word;
    case 'this':
      return `this ${stage.unit.text}`;
    default:
      return assertNever(stage);
  }
}
