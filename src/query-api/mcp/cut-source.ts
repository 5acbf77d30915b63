// The document of a dashboard for an agent: fenced, and cut at a line when it is longer than an
// answer. What is said of it is before the fence, because a model may save what is in it.
import { countFitting, escapeHidden, fence } from './cut-answer.js';

interface Cut {
  /** Lines to leave out. */
  readonly offset: number;
  /** Maximum length of the whole text. */
  readonly lengthMax: number;
}

export function cutSource(source: string, { offset, lengthMax }: Cut): string {
  const text = escapeHidden(source);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const rest = lines.slice(offset);
  const [first] = rest;
  if (first === undefined) return `no lines at offset ${offset} of ${lines.length}`;
  const fenceMax = lengthMax - NOTES_LENGTH;
  const fitting = countFitting(rest, (some) => fence('yaml', some.join('')).length <= fenceMax);
  // A fence around nothing but backticks is twice as long as they are.
  const shown = fitting > 0 ? rest.slice(0, fitting) : [first.slice(0, Math.floor(fenceMax / 4)).toWellFormed()];
  const end = offset + shown.length;
  const next = end < lines.length ? `, next offset ${end}` : '';
  const notes = [
    ...(shown.length < lines.length || fitting === 0
      ? [`lines ${offset + 1}–${end} of ${lines.length}${next}; do not save a part`]
      : []),
    ...(fitting === 0 ? [`line ${end} has ${first.length} characters and is cut; read it in the console`] : []),
    ...(text === source ? [] : [HIDDEN_NOTE]),
  ];
  return [...notes, fence('yaml', shown.join(''))].join('\n');
}

const HIDDEN_NOTE =
  'Invisible characters are shown as escapes, such as \\u202e; saving this text would store the escapes.';

/** Length reserved for the lines before the fence. */
const NOTES_LENGTH = 400;
