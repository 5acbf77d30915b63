// Where a character of a YAML text value stands in the document: quotes, escapes, folded lines and indentation are
// undone. Used to point at a mistake in a query that is written in the document.

/** A scalar as it is spelled, from its first to its last character, and what it means. */
export interface SpelledText {
  readonly type: 'PLAIN' | 'QUOTE_SINGLE' | 'QUOTE_DOUBLE' | 'BLOCK_LITERAL' | 'BLOCK_FOLDED';
  readonly spelling: string;
  readonly value: string;
}

/** The offset in `spelling` of the character at `offset` of `value`. */
export function offsetInSpelling(text: SpelledText, offset: number): number {
  const isBlock = text.type === 'BLOCK_LITERAL' || text.type === 'BLOCK_FOLDED';
  return isBlock ? offsetInBlock(text, offset) : offsetInFlow(text, offset);
}

const isBlank = (sign: string | undefined): boolean => sign !== undefined && /\s/.test(sign);

/** Blocks have no escapes: only blanks and line breaks differ, so runs of blanks correspond to runs of blanks. */
function offsetInBlock({ spelling, value }: SpelledText, offset: number): number {
  let at = spelling.indexOf('\n') + 1;
  while (isBlank(spelling[at]) && !isBlank(value[0])) at++;
  for (let index = 0; index < offset; ) {
    if (isBlank(value[index])) {
      while (index < offset && isBlank(value[index])) index++;
      // The last blank of a run stands before the next word, whatever was folded or indented between.
      if (index === offset && isBlank(value[index])) return at;
      while (isBlank(spelling[at])) at++;
    } else {
      index++;
      at++;
    }
  }
  return at;
}

const ESCAPE = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*|[\s\S])/uy;
const FOLD = /[ \t]*\r?\n\s*/uy;

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function offsetInFlow({ type, spelling }: SpelledText, offset: number): number {
  let at = type === 'PLAIN' ? 0 : 1;
  for (let index = 0; index < offset && at < spelling.length; ) {
    const step = stepInFlow(type, spelling, at);
    at += step.spelled;
    index += step.meant;
  }
  return at;
}

/** How many characters the next piece is spelled with, and how many it means. */
function stepInFlow(type: SpelledText['type'], spelling: string, at: number): { spelled: number; meant: number } {
  const fold = matchAt(FOLD, spelling, at);
  // One line break is a blank; of several, the first means nothing.
  if (fold !== undefined) return { spelled: fold.length, meant: Math.max(1, fold.split('\n').length - 2) };
  if (type === 'QUOTE_SINGLE' && spelling.startsWith("''", at)) return { spelled: 2, meant: 1 };
  const escaped = type === 'QUOTE_DOUBLE' ? matchAt(ESCAPE, spelling, at) : undefined;
  if (escaped === undefined) return { spelled: 1, meant: 1 };
  if (escaped.includes('\n')) return { spelled: escaped.length, meant: 0 };
  const isAstral = escaped.startsWith('\\U') && Number.parseInt(escaped.slice(2), 16) > 0xffff;
  return { spelled: escaped.length, meant: isAstral ? 2 : 1 };
}
