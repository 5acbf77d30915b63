// Syntax errors: turns Lezer's error nodes into messages that name the token and show the expected
// form.
import type { SyntaxNode, Tree } from '@lezer/common';
import { findNearest, type QueryProblem, quote, type Span } from '../errors.js';
import { CONDITION_FORM, ONE_AGGREGATE, SESSION_COLUMN_FORMS, STAGE_NAMES, STAGES } from '../language.js';
import { SOURCE_NAMES, SOURCES } from '../sources/index.js';
import { findError } from './node-reader.js';
import { unclosedString } from './scan.js';

interface Form {
  readonly what: string;
  readonly form: string;
}

/** Expected form by grammar node. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ...[...Object.values(SOURCES), ...Object.values(STAGES)].map(({ node, what, hint }): [string, Form] => [
    node,
    { what, form: hint },
  ]),
  ['Comparison', { what: 'the condition', form: CONDITION_FORM }],
  ['ValueList', { what: 'the list', form: 'a list is: in ("a", "b"), or in ["a", "b"]' }],
  ['Bucket', { what: 'bucket', form: 'a bucket has a width: bucket(price, 10)' }],
  ['Per', { what: 'per', form: 'the form is: latest _path per user_id' }],
  // A part of the source and a stage of its own have the same form.
  ['Exclude', { what: 'exclude', form: STAGES.exclude.hint }],
  ['Returning', { what: 'returning', form: STAGES.returning.hint }],
]);

const SKIPPING = 'rows are skipped by the request, not by the query: {"q": "…", "limit": 100, "offset": 100}';
const ZONE = 'the request names it, not the query: {"q": "…", "timezone": "Europe/Berlin"}';
const RECENT = 'the form is: last 7d';
const RELATIVE = 'last is a stage; a condition has dates: user.first_seen > 2026-01-31';
const UNTIL = 'the form is: from 2026-01-01 to 2026-02-01';
const STAR_CONDITION = '* takes no brackets: its conditions are in where, and names of events take them';
const MEAN = 'the mean is avg: avg event_properties.amount';
const MOVING_AVERAGE =
  'rolling 7d has the total of 7 days; the average of a count is: formula count(signup last 7d) / 7 by day';
const TOTAL = 'the number of events is count, and the sum of a property is sum event_properties.amount';
const NEW_PEOPLE =
  'lifecycle * by week has people who are New, Returning, Resurrected and Dormant; profiles: users | where first_seen >= 2026-01-31';
const CONVERSION = 'a funnel answers conversions: funnel page_view -> purchase; by day: … | by day';

/** Words of other query languages and their equivalents. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['offset', SKIPPING],
  ['skip', SKIPPING],
  ['group', 'groups are named behind the aggregate: count by _country'],
  ['order', 'the form is: sort count desc'],
  ['filter', `the form is: where _country = "DE"`],
  ['having', 'a where behind the aggregate filters rows: count by _country | where count > 20'],
  ['select', 'what is computed has a stage of its own: count, unique user_id, or list time, user_id'],
  ['timezone', ZONE],
  ['tz', ZONE],
  ['past', RECENT],
  ['until', UNTIL],
  ['before', UNTIL],
  ['till', UNTIL],
  ['total', TOTAL],
  ['totals', TOTAL],
  ['mean', MEAN],
  ['average', MEAN],
  ['moving', MOVING_AVERAGE],
  ['trailing', MOVING_AVERAGE],
  ...SESSION_COLUMN_FORMS,
  ['bounce', `its name is bounce_rate; ${SESSION_COLUMN_FORMS.get('bounce_rate')}`],
  ['conversion', CONVERSION],
  ['conversions', CONVERSION],
  ['||', 'a pipe is |, and conditions are joined with or'],
]);
const PEOPLE = /^(?:users|people|visitors)$/i;
const PERCENTILE = /^(?:p\d+|percentile|quantile)$/i;

/** What is meant by a word that is no name of the language. */
const otherWord = (word: string): string | undefined =>
  PERCENTILE.test(word) ? 'percentiles are median, p90, p95 and p99' : OTHER_WORDS.get(word.toLowerCase());

const QUERY_FORM = {
  what: 'the query',
  form: 'a query is: source | stage | stage, as in: signup | last 7d | count by day',
};

/** The event source that ends before the error, which is then not part of the source. */
function sourceBefore(error: SyntaxNode): SyntaxNode | undefined {
  if (error.parent?.name === 'Query') {
    const { firstChild } = error.parent;
    return firstChild?.name === 'EventSource' ? firstChild : undefined;
  }
  const source = error.parent?.name === 'Event' ? error.parent.parent : error.parent;
  const isLast = error.prevSibling?.name === 'EventName' || error.prevSibling?.name === 'Event';
  return source?.name === 'EventSource' && isLast ? source : undefined;
}

const wordOf = (text: string, source: SyntaxNode | undefined): string => {
  const name = source?.getChild('Event')?.getChild('EventName');
  return name ? text.slice(name.from, name.to) : '';
};

function formAround(node: SyntaxNode): { what: string; form: string; top: SyntaxNode } {
  let found: { what: string; form: string } | undefined = sourceBefore(node) && QUERY_FORM;
  let top = node;
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (at.name === 'Query') break;
    found ??= FORMS.get(at.name);
    top = at;
  }
  return { ...(found ?? QUERY_FORM), top };
}

// The unexpected token for a message: a word, a number, a string, or a sign of one or two
// characters.
const TOKEN = /\s*([A-Za-z_][\w.:/$-]*|\d[\w.:+-]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|->|[!<>=]=|!~|\|\||[\s\S])/uy;

function tokenAt(text: string, from: number): Span | undefined {
  TOKEN.lastIndex = from;
  const match = TOKEN.exec(text);
  if (!match || match[1] === undefined || match[1].trim() === '') return undefined;
  const to = TOKEN.lastIndex;
  return { from: to - match[1].length, to };
}

function describe(text: string, error: SyntaxNode): QueryProblem {
  const { what, form } = formAround(error);
  const token = tokenAt(text, error.from);
  if (!token)
    return {
      message: `${what} is not complete`,
      span: { from: text.trimEnd().length, to: text.trimEnd().length },
      hint: form,
    };
  const tokenText = text.slice(token.from, token.to);
  if (tokenText === '"' || tokenText === "'") {
    return unclosedString(text, token.from);
  }
  if (tokenText === '|') {
    const isEmptyStage = formAround(error).top.name === '⚠';
    return {
      message: isEmptyStage ? 'a stage is missing before "|"' : `${what} is not complete before "|"`,
      span: token,
      hint: form,
    };
  }
  const misspelled = STAGE_NAMES.includes(tokenText) ? undefined : misspelledSource(text, error);
  if (misspelled) return misspelled;
  return {
    message: `unexpected ${quote(tokenText)} in ${what}`,
    span: token,
    hint: hintFor({ text, error, tokenText, form }),
  };
}

/** A misspelled source parses as an event name, which only a pipe may follow. */
function misspelledSource(text: string, error: SyntaxNode): QueryProblem | undefined {
  const first = sourceBefore(error);
  if (first === undefined || (error.parent === first.parent && first.nextSibling?.from !== error.from))
    return undefined;
  const word = wordOf(text, first);
  const nearest = STAGE_NAMES.includes(word) ? undefined : findNearest(word, SOURCE_NAMES);
  if (nearest === undefined) return undefined;
  const source = Object.values(SOURCES).find(({ words }) => words.includes(nearest));
  return {
    message: `unknown source ${quote(word)}`,
    span: { from: first.from, to: first.from + word.length },
    hint: `nearest is "${nearest}"; ${source?.hint ?? QUERY_FORM.form}`,
    replacement: nearest,
  };
}

/** Hints for common mistakes: a missing source, and a missing pipe before a stage. */
function hintFor(place: { text: string; error: SyntaxNode; tokenText: string; form: string }): string {
  const { text, error, tokenText, form } = place;
  const source = sourceBefore(error);
  const word = wordOf(text, source);
  if (tokenText === '||') return otherWord(tokenText) ?? form;
  if (tokenText === ',' && error.parent?.name === 'Aggregate') return ONE_AGGREGATE;
  if (form === STAGES.rolling.hint && /^(?:avg|average|mean)$/i.test(tokenText)) return MOVING_AVERAGE;
  if (/[<>=]\s*last\s+$/.test(text.slice(0, error.from))) return RELATIVE;
  if (tokenText === '[' && text.slice(0, error.from).trimEnd().endsWith('*')) return STAR_CONDITION;
  if (/^(?:new|returning)$/i.test(word) && PEOPLE.test(tokenText)) return NEW_PEOPLE;
  if (/^(?:list|unique)$/.test(word) && /^\w+$/.test(tokenText) && !STAGE_NAMES.includes(tokenText)) {
    return `"${word}" is a stage: of an event it is ${tokenText} | ${word}, of a field * | ${word} ${tokenText}`;
  }
  if (STAGE_NAMES.includes(word)) return `"${word}" is a stage; a source comes before it: * | ${word} …`;
  if (source === undefined && error.parent?.name !== 'Query') return form;
  if (STAGE_NAMES.includes(tokenText)) return `a pipe comes before a stage: | ${tokenText}`;
  const before = error.prevSibling?.name === 'People' ? FORMS.get('People')?.form : undefined;
  return otherWord(tokenText) ?? before ?? form;
}

// Otherwise nonsense text would cause a problem for each of its characters.
const PROBLEMS_MAX = 20;

/** At most one problem for each source or stage: later ones mostly follow from the first. */
export function findSyntaxProblems(text: string, tree: Tree): QueryProblem[] {
  const problems: QueryProblem[] = [];
  let isReported = false;
  for (let node = tree.topNode.firstChild; node && problems.length < PROBLEMS_MAX; node = node.nextSibling) {
    if (node.name === '|') {
      isReported = false;
    } else if (node.name === 'UnknownStage') {
      // Words behind an error, without a pipe, are a part of it.
      if (!isReported) problems.push(unknownStage(text, node));
      isReported = true;
    } else if (!isReported) {
      const error = findError(node);
      if (error) problems.push(describe(text, error));
      isReported = error !== undefined;
    }
  }
  return problems;
}

function unknownStage(text: string, node: SyntaxNode): QueryProblem {
  const word = node.firstChild ?? node;
  const name = text.slice(word.from, word.to);
  const nearest = findNearest(name, STAGE_NAMES);
  const instead = name.toLowerCase() === 'to' ? UNTIL : otherWord(name);
  return {
    message: `unknown stage ${quote(name)}`,
    span: { from: word.from, to: word.to },
    hint: instead ?? (nearest ? `nearest is "${nearest}"` : `stages are ${STAGE_NAMES.join(', ')}`),
    replacement: instead === undefined ? nearest : undefined,
  };
}
