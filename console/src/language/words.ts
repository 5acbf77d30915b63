// Parts of a query with what each does: the source and the stages, and the calls in conditions.
import { type CallQueries, callQueriesOf } from '../../../src/query/call-queries.js';
import { parse } from '../../../src/query/parse/parse.js';
import { collapseBlanks } from '../../../src/query/parse/strings.js';
import type { Stage } from '../../../src/query/parse/syntax.js';
import { SOURCE_EXPLANATIONS, STAGE_EXPLANATIONS } from './explanations.js';

export interface Part {
  /** As it is written, without comments and line breaks. */
  readonly text: string;
  readonly about: string;
}

export function partsOf(text: string): readonly Part[] {
  const { source, stages } = parse(text).query;
  const written = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    collapseBlanks(text.slice(from, to)).trim();
  const known = source === undefined || source === 'broken' ? undefined : source;
  const kind = known?.kind ?? 'all';
  const aggregate = stages.find((stage) => stage.kind === 'aggregate');
  const aboutOf = (stage: Stage): string => {
    if (stage.kind === 'broken') return '';
    const explain = STAGE_EXPLANATIONS[stage.kind] as (
      of: Stage,
      place: { source: typeof kind; isBehind: boolean },
    ) => string;
    return explain(stage, { source: kind, isBehind: aggregate !== undefined && stage.span.from > aggregate.span.from });
  };
  return [
    ...(known ? [{ text: written(known.span), about: SOURCE_EXPLANATIONS[kind] }] : []),
    ...stages.map((stage) => ({ text: written(stage.span), about: aboutOf(stage) })),
  ];
}

/** The calls in the conditions, each with the queries that count who passes it. */
export function callsOf(text: string, period: string): readonly CallQueries[] {
  const [fromMs = 0, toMs = 0] = period.split('/').map((instant) => Date.parse(instant));
  return callQueriesOf(text, parse(text).query, { fromMs, toMs });
}
