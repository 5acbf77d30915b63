// Parses a time range chosen by a viewer, and formats it again for the query language, so that no
// other text of the viewer gets into the query.

import { assertNever } from '../platform/errors.js';
import { analyze } from '../query/analyze/analyze.js';
import { parse } from '../query/parse/parse.js';
import { quoteText } from '../query/parse/strings.js';
import { stagesOf } from '../query/parse/syntax.js';
import { TIME_STAGES, type TimeStage } from '../query/time/range.js';
import { expandRange } from './variable-forms.js';

export const RANGE_FORM = 'a range is: last 7d, today, this month, or from 2026-01-01 to 2026-02-01';

/**
 * Whether a text is a range does not depend on the clock: `since` with any date is one. Whether the
 * date is in the future is for the query to say.
 */
const LATE_MOMENT = { nowMs: Date.UTC(2100, 0, 1), timezone: 'UTC' };

/** Longer than any range, blanks included. */
const LENGTH_MAX = 200;

/** `last 7d` and similar, short forms too; undefined for text that is not a range. */
export function tryFormatRange(text: string): string | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const { query, problems } = parse(`* | ${expandRange(text)}`);
  const [stage] = stagesOf(query.stages, ...TIME_STAGES);
  if (problems.length > 0 || stage === undefined || query.stages.length > 1) return undefined;
  const formatted = format(stage);
  const again = parse(`* | ${formatted}`);
  const isRange = again.problems.length === 0 && analyze(again.query, LATE_MOMENT).problems.length === 0;
  return isRange ? formatted : undefined;
}

function format(stage: TimeStage): string {
  switch (stage.kind) {
    case 'last':
      return `last ${stage.duration.amount}${stage.duration.unit}`;
    case 'from_to':
      return `from ${quoteText(stage.from.text)} to ${quoteText(stage.to.text)}`;
    case 'named_range':
      return stage.unit ? `${stage.word} ${stage.unit.text}` : stage.word;
    case 'since':
      return `since ${quoteText(stage.from.text)}`;
    default:
      return assertNever(stage);
  }
}
