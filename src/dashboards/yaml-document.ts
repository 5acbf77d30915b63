// A text as one YAML 1.2 document: what is refused here is refused because of how it is written, whatever it says. Tokens
// and nesting are counted while the text is read, so that no text costs more than its first so many tokens.
import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from 'yaml';

/** A dashboard needs eight. Composing thousands would end the process, not only the request: the library calls itself. */
export const DEPTH_MAX = 32;
/** Texts, signs, blanks and line breaks each count. A dashboard of 64 KiB as people write it has about 15,000. */
export const TOKENS_MAX = 40_000;
/** Of mistakes in the spelling. Each one costs the library, and nobody repairs more at once. */
const MISTAKES_MAX = 20;

/** A problem at an offset of the text. */
export interface Misspelling {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

export interface ComposedDocument {
  /** Undefined when there is nothing to look at. With misspellings, its structure is a guess. */
  readonly document: Document.Parsed | undefined;
  readonly misspellings: readonly Misspelling[];
}

export function composeDocument(source: string): ComposedDocument {
  const { tokens, misspellings: early } = readTokens(source);
  if (early.length > 0) return { document: undefined, misspellings: early };
  const composer = new Composer({
    version: '1.2',
    strict: true,
    stringKeys: true,
    // Repeated keys are looked for later, where both places are known.
    uniqueKeys: false,
    merge: false,
    logLevel: 'silent',
  });
  const [document, second] = composer.compose(tokens, false, source.length);
  if (document === undefined || document.contents === null) {
    const empty = { offset: 0, message: 'the document is empty', hint: 'it starts with: version: 1' };
    return { document: undefined, misspellings: [empty] };
  }
  const misspellings = findMisspellings(document, second);
  const nul = source.indexOf('\0');
  if (nul >= 0) misspellings.push({ offset: nul, message: 'the document has a NUL character', hint: 'leave it out' });
  return { document, misspellings };
}

interface Tokens {
  readonly tokens: readonly CST.Token[];
  /** Why reading ended before the end of the text; empty when it did not. */
  readonly misspellings: readonly Misspelling[];
}

function readTokens(source: string): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const mistakes: Misspelling[] = [];
  const end = (message: string, hint: string): Tokens => ({
    tokens,
    misspellings: [...mistakes, { offset: parser.offset, message, hint }],
  });
  let count = 0;
  for (const lexeme of new Lexer().lex(source)) {
    count += 1;
    if (count > TOKENS_MAX) {
      return end(`the document has more than ${TOKENS_MAX} words and signs`, 'split it into several dashboards');
    }
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'error') mistakes.push(toMistake(token.offset, token.message));
    }
    if (mistakes.length > MISTAKES_MAX) {
      return end(`the document has more than ${MISTAKES_MAX} mistakes`, 'what follows here was not read');
    }
    // The document itself is the first of the stack, the text that is being read the last.
    if (parser.stack.length > DEPTH_MAX + 2) {
      return end(`the document is nested deeper than ${DEPTH_MAX} levels`, 'a dashboard needs eight levels');
    }
  }
  tokens.push(...parser.end());
  return { tokens, misspellings: [] };
}

function findMisspellings(document: Document.Parsed, second: Document.Parsed | undefined): Misspelling[] {
  const found = document.errors.slice(0, MISTAKES_MAX).map(({ pos, message }: YAMLError) => toMistake(pos[0], message));
  if (second !== undefined) {
    const offset = second.range[0];
    found.push({ offset, message: 'a second document begins', hint: 'a dashboard is one document; leave out "---"' });
  }
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== '1.2') {
    found.push({ offset: 0, message: `YAML ${version} is asked for`, hint: 'the document is YAML 1.2' });
  }
  return found;
}

const toMistake = (offset: number, message: string): Misspelling => ({
  offset,
  message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
  hint: 'text that holds ": " or "#", or starts with a sign, goes in quotes; levels are indented with blanks',
});
