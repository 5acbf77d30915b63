// Parses text as one YAML 1.2 document, with limits on tokens and nesting that are checked while
// reading, so that any text costs at most the limit. Reports syntax problems only.
import { Composer, type CST, type Document, Lexer, Parser, type YAMLError } from 'yaml';

/**
 * A dashboard needs eight levels. The library is recursive: thousands of levels would overflow the
 * stack and end the process.
 */
const DEPTH_MAX = 32;
/**
 * Texts, punctuation, whitespace and line breaks each count. A typical dashboard of 64 KiB has
 * about 15,000.
 */
const TOKENS_MAX = 40_000;
/**
 * Limit of syntax errors: each costs the library time, and more would not help to fix the document.
 */
const MISTAKES_MAX = 20;

/** A problem at an offset of the text. */
interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

export interface ComposedDocument {
  /** Undefined when there is no document. With syntax problems its structure is a guess. */
  readonly document: Document.Parsed | undefined;
  readonly syntaxProblems: readonly SyntaxProblem[];
}

export function composeDocument(source: string): ComposedDocument {
  const { tokens, syntaxProblems: early } = readTokens(source);
  if (early.length > 0) return { document: undefined, syntaxProblems: early };
  const composer = new Composer({
    version: '1.2',
    strict: true,
    stringKeys: true,
    // Duplicate keys are reported by yaml-source.ts, which knows both positions.
    uniqueKeys: false,
    merge: false,
    logLevel: 'silent',
  });
  const [document, second] = composer.compose(tokens, false, source.length);
  if (document === undefined || document.contents === null) {
    const empty = { offset: 0, message: 'the document is empty', hint: 'it starts with: version: 1' };
    return { document: undefined, syntaxProblems: [empty] };
  }
  const syntaxProblems = findSyntaxProblems(document, second);
  const nul = source.indexOf('\0');
  if (nul >= 0) syntaxProblems.push({ offset: nul, message: 'the document has a NUL character', hint: 'remove it' });
  return { document, syntaxProblems };
}

interface Tokens {
  readonly tokens: readonly CST.Token[];
  /** Why reading stopped before the end of the text; empty when it did not. */
  readonly syntaxProblems: readonly SyntaxProblem[];
}

function readTokens(source: string): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const mistakes: SyntaxProblem[] = [];
  const end = (message: string, hint: string): Tokens => ({
    tokens,
    syntaxProblems: [...mistakes, { offset: parser.offset, message, hint }],
  });
  let count = 0;
  for (const lexeme of new Lexer().lex(source)) {
    count += 1;
    if (count > TOKENS_MAX) {
      return end(`the document has more than ${TOKENS_MAX} words and signs`, 'make it shorter');
    }
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'error') mistakes.push(toMistake(token.offset, token.message));
    }
    if (mistakes.length > MISTAKES_MAX) {
      return end(`the document has more than ${MISTAKES_MAX} mistakes`, 'what follows here was not read');
    }
    // The first entry of the stack is the document itself, the last is the scalar being read.
    if (parser.stack.length > DEPTH_MAX + 2) {
      return end(
        `the document is nested deeper than ${DEPTH_MAX} levels`,
        'make it flatter: a dashboard needs eight levels',
      );
    }
  }
  tokens.push(...parser.end());
  return { tokens, syntaxProblems: [] };
}

function findSyntaxProblems(document: Document.Parsed, second: Document.Parsed | undefined): SyntaxProblem[] {
  const found = document.errors.slice(0, MISTAKES_MAX).map(({ pos, message }: YAMLError) => toMistake(pos[0], message));
  if (second !== undefined) {
    const offset = second.range[0];
    found.push({ offset, message: 'a second document begins', hint: 'this is one document; remove "---"' });
  }
  const { explicit, version } = document.directives.yaml;
  if (explicit && version !== '1.2') {
    found.push({ offset: 0, message: `YAML ${version} is declared`, hint: 'the document is YAML 1.2' });
  }
  return found;
}

const toMistake = (offset: number, message: string): SyntaxProblem => ({
  offset,
  message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
  hint: 'text that holds ": " or "#", or starts with a sign, goes in quotes; levels are indented with blanks',
});
