// Validates regular expressions. They are RE2, as in ClickHouse: each is parsed with RE2's rules,
// so that an invalid one is an error of the query with a position and a hint. Its size is estimated
// first, because a short repetition can be a large program.
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { quote } from '../errors.js';

export interface PatternProblem {
  readonly message: string;
  readonly hint: string;
  /** The invalid part of the pattern; undefined when it is the whole pattern. */
  readonly piece: string | undefined;
}

/** Problems by the parser's message, which is RE2's error. */
const PROBLEMS: ReadonlyMap<string, { readonly says: string; readonly hint: string }> = new Map([
  ['missing closing )', { says: 'has a ( without its )', hint: 'a parenthesis itself is written \\(' }],
  ['unexpected )', { says: 'has a ) without its (', hint: 'a parenthesis itself is written \\)' }],
  ['missing closing ]', { says: 'has a [ without its ]', hint: 'a bracket itself is written \\[' }],
  [
    'missing argument to repetition operator',
    {
      says: 'repeats nothing',
      hint: '*, +, ? and {2} come after what they repeat; the signs themselves are written \\*, \\+ and \\?',
    },
  ],
  [
    'invalid nested repetition operator',
    { says: 'has two repetitions in a row', hint: 'one is enough; expressions are RE2, which has no possessive ones' },
  ],
  [
    'invalid repeat count',
    {
      says: 'has a repetition that is not possible',
      hint: 'counts are at most 1000, those of nested ones multiplied, and the first is not above the second',
    },
  ],
  [
    'invalid character class range',
    {
      says: 'has a class that is not possible',
      hint: 'a range is written a-z; classes with a name are those of RE2, such as \\d, \\pL, \\p{Greek} and [[:alpha:]]',
    },
  ],
  [
    'invalid escape sequence',
    {
      says: 'has an unknown escape',
      hint: 'expressions are RE2; a sign itself is written with a backslash, as in \\.',
    },
  ],
  [
    'trailing backslash at end of expression',
    { says: 'ends in a backslash', hint: 'a backslash itself is written twice, and \\\\\\\\ in a string' },
  ],
  [
    'invalid named capture',
    {
      says: 'has a group whose name is not possible',
      hint: 'a name has letters, digits and _, as in (?P<name>…); a group needs none',
    },
  ],
  ['duplicate capture group name', { says: 'has two groups of one name', hint: 'groups need no name: (…)' }],
  [
    'invalid or unsupported Perl syntax',
    {
      says: 'has a group of an unknown kind',
      hint: 'expressions are RE2; groups are (…), (?:…) and (?P<name>…), and flags (?i), (?m), (?s) and (?U)',
    },
  ],
]);

const LOOK_AROUND = /^\(\?<?[=!]/;
const BACK_REFERENCE = /^\\[1-9]$/;

/** The problem of a pattern by the rules of RE2; undefined when it is valid. */
export function findPatternProblem(pattern: string): PatternProblem | undefined {
  try {
    RE2JS.compile(pattern);
    return findUnknownClass(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return describe(pattern, error.error, error.input ?? '');
  }
}

function describe(pattern: string, description: string, input: string): PatternProblem {
  // For an unmatched parenthesis the parser names the whole pattern.
  const isWhole = input === '' || (input === pattern && /[()]$/.test(description));
  const piece = isWhole || !pattern.includes(input) ? undefined : input;
  const [lookAround] = LOOK_AROUND.exec(input) ?? [];
  if (lookAround !== undefined) {
    return {
      message: `the regular expression has a look-around, ${quote(lookAround)}`,
      hint: 'expressions are RE2, which has none; combine conditions with and, or, !~',
      piece: lookAround,
    };
  }
  if (BACK_REFERENCE.test(input)) {
    return {
      message: `the regular expression has a back-reference, ${quote(input)}`,
      hint: 'expressions are RE2, which has none',
      piece,
    };
  }
  const { says, hint } = PROBLEMS.get(description) ?? { says: 'is not valid', hint: 'expressions are RE2' };
  return { message: `the regular expression ${says}${piece === undefined ? '' : `: ${quote(piece)}`}`, hint, piece };
}

const CATEGORIES = /^(C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?|Any)$/;
const NAMED_CLASS = /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{\^?(?<name>\w+)\}|\\[\s\S]/g;

/**
 * Classes that the parser supports and ClickHouse does not, which has only general categories and
 * scripts.
 */
function findUnknownClass(pattern: string): PatternProblem | undefined {
  for (const { 0: piece, groups } of pattern.matchAll(NAMED_CLASS)) {
    const name = groups?.name;
    if (name === undefined || CATEGORIES.test(name) || isScript(name)) continue;
    return describe(pattern, 'invalid character class range', piece);
  }
  return undefined;
}

function isScript(name: string): boolean {
  try {
    return new RegExp(`\\p{Script=${name}}`, 'u').source !== '';
  } catch {
    return false;
  }
}

/**
 * One element of a pattern: quoted text, a class, an escape, a class in brackets, the start of a
 * group, a count, or a character.
 */
const PIECE =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|[\s\S])|\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*(?:\]|$)|\((?:\?[^():]*[:>]?)?|\{(?<least>\d+)(?<open>,)?(?<most>\d*)\}|[\s\S]/gu;

// A Unicode class takes hundreds of instructions, because ClickHouse matches bytes; other classes
// take fewer.
const UNICODE_CLASS_STATES = 500;
const CLASS_STATES = 10;

function statesOf(piece: string): number {
  const classes = piece.startsWith('\\Q') ? 0 : (piece.match(/\\[pP]/g)?.length ?? 0);
  if (classes > 0) return classes * UNICODE_CLASS_STATES;
  if (piece.startsWith('[')) return CLASS_STATES + piece.length;
  return piece === '.' || /^\\[DSWdsw]$/.test(piece) ? CLASS_STATES : new TextEncoder().encode(piece).length;
}

/**
 * Approximate number of states of the automaton: those of each element, times the repetitions
 * around it.
 */
export function estimateStates(pattern: string): number {
  const groups: number[] = [];
  let total = 0;
  // The states of the preceding element or group, which a repetition would multiply.
  let last = 0;
  for (const { 0: piece, groups: count } of pattern.matchAll(PIECE)) {
    if (count?.least !== undefined) {
      const times = Math.max(1, Number(count.least), Number(count.most ?? 0)) + (count.open ? 1 : 0);
      total += last * (times - 1);
      last *= times;
    } else if (piece.startsWith('(')) {
      groups.push(total);
      total += 2;
    } else if (piece === ')') {
      last = total - (groups.pop() ?? 0);
    } else {
      last = statesOf(piece);
      total += last;
    }
  }
  return total;
}
