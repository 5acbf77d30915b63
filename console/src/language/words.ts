// Parts of a query with what each means, in the words of the language's own table: the source and
// the stages, and the calls in conditions.
import { type CallQueries, callQueriesOf } from '../../../src/query/call-queries.js';
import { STAGES } from '../../../src/query/language.js';
import { parse } from '../../../src/query/parse/parse.js';
import { collapseBlanks } from '../../../src/query/parse/strings.js';
import { SOURCES } from '../../../src/query/sources/index.js';

export interface Part {
  /** As it is written, without comments and line breaks. */
  readonly text: string;
  readonly about: string;
}

type Row = { readonly words: readonly string[]; readonly about: string };

const EVENTS = 'these events';
const plain = (about: string): string => about.replaceAll('`', '').replaceAll('\\|', '|');

export function partsOf(text: string): readonly Part[] {
  const { source, stages } = parse(text).query;
  const written = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    collapseBlanks(text.slice(from, to)).trim();
  const aboutOf = (rows: Readonly<Record<string, Row>>, part: string, otherwise: string): string => {
    const [word = ''] = /^\S*/.exec(part) ?? [];
    return plain(Object.values(rows).find(({ words }) => words.includes(word))?.about ?? otherwise);
  };
  const first = source === undefined || source === 'broken' ? [] : [written(source.span)];
  return [
    ...first.map((part) => ({ text: part, about: part === '*' ? 'all events' : aboutOf(SOURCES, part, EVENTS) })),
    ...stages.map(({ span }) => ({ text: written(span), about: aboutOf(STAGES, written(span), '') })),
  ];
}

/** The calls in the conditions, each with the queries that count who passes it. */
export function callsOf(text: string, period: string): readonly CallQueries[] {
  const [fromMs = 0, toMs = 0] = period.split('/').map((instant) => Date.parse(instant));
  return callQueriesOf(text, parse(text).query, { fromMs, toMs });
}
