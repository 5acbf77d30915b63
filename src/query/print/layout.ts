// Layout of SQL: a piece is printed on one line when it fits, otherwise with its parts on lines of
// their own.

export interface Piece {
  /** Length on one line; infinite for pieces that need several. */
  readonly width: number;
  /** `indent` precedes each further line. */
  readonly print: (indent: string) => string;
}

const LINE_WIDTH = 100;
const DEEPER = '  ';

export const word = (sql: string): Piece => ({ width: sql.length, print: () => sql });

export const inline = (...pieces: readonly Piece[]): Piece => ({
  width: pieces.reduce((sum, { width }) => sum + width, 0),
  print: (indent) => pieces.map((piece) => piece.print(indent)).join(''),
});

export const lines = (...pieces: readonly Piece[]): Piece => ({
  width: Number.POSITIVE_INFINITY,
  print: (indent) => pieces.map((piece) => piece.print(indent)).join(`\n${indent}`),
});

/** `open` and `close` on lines of their own, and the pieces between them, indented. */
export const block = (open: string, pieces: readonly Piece[], separator: string, close: string): Piece => ({
  width: Number.POSITIVE_INFINITY,
  print: (indent) => {
    const deeper = `\n${indent}${DEEPER}`;
    const body = pieces.map((piece) => piece.print(indent + DEEPER)).join(separator + deeper);
    return `${open}${deeper}${body}${close === '' ? '' : `\n${indent}${close}`}`;
  },
});

/**
 * Deeper pieces stay on one line: otherwise the length of SQL would grow with the square of its
 * nesting.
 */
const INDENT_MAX = 32;

const fitting = (flat: Piece, broken: Piece): Piece => ({
  width: flat.width,
  print: (indent) => {
    const mayStay = indent.length >= INDENT_MAX && Number.isFinite(flat.width);
    return (mayStay || indent.length + flat.width <= LINE_WIDTH ? flat : broken).print(indent);
  },
});

const between = (pieces: readonly Piece[], separator: string): Piece[] =>
  pieces.flatMap((piece, index) => (index === 0 ? [piece] : [word(separator), piece]));

/** `open a, b close`. */
export const group = (open: string, pieces: readonly Piece[], close: string): Piece =>
  fitting(inline(word(open), ...between(pieces, ', '), word(close)), block(open, pieces, ',', close));

/**
 * Operands with an operator between them, each further one on a line of its own behind its
 * operator.
 */
export const brokenChain = (pieces: readonly Piece[], operator: string): Piece => ({
  width: Number.POSITIVE_INFINITY,
  print: (indent) => pieces.map((piece) => piece.print(indent + DEEPER)).join(`\n${indent}${DEEPER}${operator} `),
});

export const chain = (pieces: readonly Piece[], operator: string): Piece =>
  fitting(inline(...between(pieces, ` ${operator} `)), brokenChain(pieces, operator));
