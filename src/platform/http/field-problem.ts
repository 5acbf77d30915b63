// What is wrong with a field, in words that follow its name: `name must have at most 200
// characters`. Zod's own say `Too big: expected string to have <=200 characters`. A schema that has
// its own words keeps them.
import { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  uuid: 'an id (UUID)',
  datetime: 'a time such as 2026-01-31T12:00:00Z',
  date: 'a date such as 2026-01-31',
};

const SIZES: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' };

/** The option `error` of `safeParse`. */
export function describeProblem(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `${issue.values.length === 1 ? 'must be' : 'is one of'} ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'written in another form'}`;
    case 'too_big':
      return boundOf('at most', Number(issue.maximum), issue.origin);
    case 'too_small':
      return boundOf('at least', Number(issue.minimum), issue.origin);
    case 'invalid_key':
      return 'has a name that is not valid';
    case 'invalid_union':
    case 'custom':
      return 'is not valid';
    default:
      return undefined;
  }
}

function boundOf(side: 'at least' | 'at most', bound: number, origin: string): string {
  const size = SIZES[origin];
  if (size === undefined) return `must be ${side} ${bound}`;
  if (side === 'at least' && bound === 1) return 'must not be empty';
  return `must have ${side} ${bound} ${size}${bound === 1 ? '' : 's'}`;
}

/** Of a name in an error. */
const NAME_LENGTH_MAX = 100;

export const quoteName = (name: string): string => JSON.stringify(name.slice(0, NAME_LENGTH_MAX));

/** What the fields are called in an error, and what has them. */
interface Words {
  readonly field: 'field' | 'argument';
  readonly holder: 'the body' | 'the tool';
}

/** A phrase for each problem: `name is required`, `unknown field "nam"; the body has name`. */
export const describeProblems = (error: z.ZodError, schema: z.ZodType, words: Words): string[] =>
  error.issues.map((issue) => [...issue.path, phraseOf(issue, schema, words)].join(' '));

function phraseOf(issue: z.core.$ZodIssue, schema: z.ZodType, { field, holder }: Words): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  const unknown = `unknown ${field} ${quoteName(issue.keys[0] ?? '')}`;
  const isAtTop = issue.path.length === 0 && schema instanceof z.ZodObject;
  return isAtTop ? `${unknown}; ${holder} has ${Object.keys(schema.shape).join(', ')}` : unknown;
}
