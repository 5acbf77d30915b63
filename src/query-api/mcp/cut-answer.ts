// Text of an answer for an agent: at most a number of characters, cut at a row, and fenced, because
// its values are data of events. No value ends the fence, and none has invisible characters.
import type { ThreadTask } from '../../platform/threads/thread-task.js';
import { type Cell, isTexts } from '../../query/cell.js';
import { formatCsv } from '../../query/csv.js';
import { formatFooter, formatTable } from '../../query/markdown.js';
import { IN_PLACE, revealInvisible } from '../../query/markdown-escape.js';
import type { Answered } from '../answer.js';
import { type AnswerRequest, toAnswerOf } from '../format-task.js';
import { formatJson } from '../formats/json.js';
import { type Answer, withoutStatements } from '../shape.js';

export const FORMS = ['markdown', 'csv', 'json'] as const;
export type Form = (typeof FORMS)[number];

export interface CutAnswer {
  /** Fenced, at most `lengthMax` characters. */
  readonly text: string;
  readonly shown: number;
  readonly total: number;
}

export interface CutRequest extends AnswerRequest {
  readonly form: Form;
  readonly lengthMax: number;
}

export const cutTask: ThreadTask<CutRequest, CutAnswer> = {
  module: import.meta.url,
  name: 'cutTask',
  run: ({ form, lengthMax, ...request }) => cutAnswer(toAnswerOf(request), { ...request, form, lengthMax }),
  tooCostly: 'the answer takes more than {limit} to format; list fewer rows or only the fields you need',
  buffersOfInput: ({ page }) => page.pieces.map(({ buffer }) => buffer),
};

type Cut = Pick<CutRequest, 'form' | 'lengthMax' | 'offset'>;

export function cutAnswer(whole: Answer, cut: Cut): CutAnswer {
  const { total } = whole;
  const isTooLong = textOf(whole, whole.rows.slice(0, 1), cut).length > cut.lengthMax;
  const answer = isTooLong ? { ...whole, extraFields: leaveOutFields(whole.extraFields, cut.lengthMax / 2) } : whole;
  const fits = (rows: Answer['rows']) => textOf(answer, rows, cut).length <= cut.lengthMax;
  const rows = shorten(answer.rows, fits);
  const shown = countFitting(rows, fits, countAbout(rows, cut.lengthMax));
  return { text: textOf(answer, rows.slice(0, shown), cut), shown, total };
}

/**
 * The fields beside the rows whose JSON fits, the shortest first, and the names of the others: the
 * packet of an experiment with hundreds of variants is longer than an answer may be.
 */
function leaveOutFields(fields: Answer['extraFields'] = {}, lengthMax: number): Record<string, unknown> {
  const byLength = Object.entries(fields)
    .map((entry) => ({ entry, length: JSON.stringify(entry).length }))
    .sort((a, b) => a.length - b.length);
  let left = lengthMax;
  const kept = byLength.filter(({ length }) => {
    left -= length;
    return left >= 0;
  });
  const names = byLength.slice(kept.length).map(({ entry: [name] }) => name);
  return {
    ...Object.fromEntries(kept.map(({ entry }) => entry)),
    ...(names.length > 0 && { left_out: names.reverse() }),
  };
}

/** With long cells cut, when not even the first row fits. */
function shorten(rows: Answer['rows'], fits: (rows: Answer['rows']) => boolean): Answer['rows'] {
  let lengthMax = CELL_LENGTH_MAX;
  let cut = rows;
  while (cut.length > 0 && !fits(cut.slice(0, 1)) && lengthMax >= CELL_LENGTH_MIN) {
    const max = lengthMax;
    cut = rows.map((row) => row.map((cell) => shortenCell(cell, max)));
    lengthMax /= 2;
  }
  return cut;
}

const CELL_LENGTH_MAX = 4096;
const CELL_LENGTH_MIN = 32;

function shortenCell(cell: Cell, lengthMax: number): Cell {
  if (cell === null || typeof cell === 'number' || typeof cell === 'boolean') return cell;
  const text = typeof cell === 'string' ? cell : isTexts(cell) ? cell.join(', ') : JSON.stringify(cell);
  if (text.length <= lengthMax) return cell;
  return `${text.slice(0, lengthMax).toWellFormed()}… (${text.length} characters)`;
}

/** The largest number of rows or lines whose text fits, of the first `max`. */
export function countFitting<Item>(
  items: readonly Item[],
  fits: (items: readonly Item[]) => boolean,
  max = items.length,
): number {
  let [low, high] = [0, max];
  if (fits(items.slice(0, high))) return high;
  while (low < high - 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(items.slice(0, middle))) low = middle;
    else high = middle;
  }
  return low;
}

/** More rows than can fit, so that a large answer is not formatted as a whole. */
function countAbout(rows: Answer['rows'], lengthMax: number): number {
  let length = 0;
  const end = rows.findIndex((row) => {
    length += JSON.stringify(row).length;
    return length > LENGTH_FACTOR * lengthMax;
  });
  return end === -1 ? rows.length : end + 1;
}

/** A number may be written in a few digits instead of seventeen. */
const LENGTH_FACTOR = 8;

function textOf(answer: Answer, rows: Answer['rows'], { form, offset }: Cut): string {
  const cut: Answer = {
    ...answer,
    rows,
    isTruncated: answer.total > rows.length,
    hasMore: answer.total > offset + rows.length,
  };
  switch (form) {
    case 'markdown':
      return fence('text', `${formatTable(cut, { isCompact: true })}\n\n${formatFooter(cut)}`);
    case 'csv':
      return fence('csv', escapeInvisible(formatCsv({ ...cut, rows: rows.map((row) => row.map(reveal)) }).trimEnd()));
    default:
      return fence('json', escapeInvisible(formatJson(cut)));
  }
}

/** A line break in a cell becomes its escape, because a line is a row. */
const reveal = (cell: Cell): Cell =>
  typeof cell === 'string' ? revealInvisible(cell) : isTexts(cell) ? cell.map(revealInvisible) : cell;

const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u007f-\u009f]/gu;

/** As escapes of JSON, which change no value. */
export const escapeInvisible = (json: string): string => json.replace(INVISIBLE, toEscapes);

const toEscapes = (character: string): string =>
  [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');

const HIDDEN = new RegExp(`(${IN_PLACE})|(?![\\t\\r\\n])\\p{Cc}|${INVISIBLE.source}`, 'gu');

/**
 * For YAML, in most of which an escape would be text: joiners of scripts and the parts of an emoji
 * stay, so that a text that is read and saved is the same.
 */
export const escapeHidden = (yaml: string): string =>
  yaml.replace(HIDDEN, (found, kept?: string) => kept ?? toEscapes(found));

/** A fence that is longer than any run of backticks in the text. */
export function fence(language: string, text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const mark = '`'.repeat(longest + 1);
  return `${mark}${language}\n${text}\n${mark}`;
}

export const toCutRequest = (
  { compiled, page, ...counted }: Answered,
  cut: Pick<CutRequest, 'form' | 'lengthMax' | 'offset'>,
): CutRequest => ({ ...counted, ...cut, compiled: withoutStatements(compiled), page });
