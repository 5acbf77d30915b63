// First check of a document (a dashboard, or definitions): types of values and names of keys, by
// its Zod schema. Converts each Zod issue to a problem with a position in the text and a hint.
import { z } from 'zod';
import { findNearest, isTypo, quote, type TextFix } from '../query/errors.js';
import { configSchema, VARIABLE_TYPES } from './config-schema.js';
import { type Path, valueAt } from './path.js';
import type { DashboardProblem } from './problems.js';
import type { Remark, YamlSource } from './yaml-source.js';

type Issue = z.core.$ZodIssue;

export function checkStructure(source: YamlSource, schema: z.ZodType = configSchema): DashboardProblem[] {
  const parsed = schema.safeParse(source.value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => toProblems(issue, source, schema));
}

function toProblems(issue: Issue, source: YamlSource, schema: z.ZodType): DashboardProblem[] {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, source.value, path);
    return issue.keys.map((key) => {
      const at = [...path, key];
      const problem = source.problemAtKey(at, { message: `unknown key ${quote(key)}`, hint: nearestOf(key, known) });
      const meant = meantBy(key, known);
      const isFree = meant !== undefined && source.at([...path, meant]) === undefined;
      return withFix(problem, isFree ? source.replacementOfKey(at, meant) : undefined);
    });
  }
  if (issue.code === 'invalid_key') {
    const [inner] = issue.issues;
    const hint = inner?.code === 'too_big' ? toExpectation(inner, path.at(-1)) : `a name here ${inner?.message ?? ''}`;
    return [source.problemAtKey(path, { message: `${show(path.at(-1))} is not a valid name`, hint })];
  }
  const found = source.at(path);
  const problem = source.problemAt(path, toRemark(issue, found));
  const meant = meantBy(found, choicesOf(issue));
  if (typeof found !== 'string' || meant === undefined) return [problem];
  return [withFix(problem, source.replacementInText(path, { from: 0, to: found.length }, meant))];
}

const withFix = (problem: DashboardProblem, fix: TextFix | undefined): DashboardProblem =>
  fix === undefined ? problem : { ...problem, fix };

/** The known word that nothing but a mistake of typing keeps from being this one. */
function meantBy(found: unknown, known: readonly string[]): string | undefined {
  const nearest = typeof found === 'string' ? findNearest(found, known) : undefined;
  return nearest !== undefined && isTypo(String(found).toLowerCase(), nearest.toLowerCase()) ? nearest : undefined;
}

/** The words that are valid in place of a wrong one. */
function choicesOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union' && issue.discriminator !== undefined ? VARIABLE_TYPES : [];
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys and values',
  record: 'a map of names and values',
};

function toRemark(issue: Issue, found: unknown): Remark {
  const expected = toExpectation(issue, found);
  if (found === undefined) return { message: `${quote(String(issue.path.at(-1)))} is missing`, hint: expected };
  if (Array.isArray(found) && issue.code === 'too_small') return { message: 'the list is empty', hint: expected };
  if (Array.isArray(found) && issue.code === 'too_big') {
    return { message: `${found.length} items are too many`, hint: expected };
  }
  return { message: `${show(found)} is not valid here`, hint: expected };
}

function toExpectation(issue: Issue, found: unknown): string {
  switch (issue.code) {
    case 'invalid_type': {
      // The schema words some itself: what is text may have a form.
      if (!issue.message.startsWith('Invalid input')) return `it ${issue.message}`;
      const isUnquoted = issue.expected === 'string' && ['number', 'boolean'].includes(typeof found);
      return `it is ${TYPE_WORDS[issue.expected] ?? issue.expected}${isUnquoted ? `: write "${found}"` : ''}`;
    }
    case 'invalid_value':
      return nearestOf(found, choicesOf(issue));
    case 'invalid_union':
      return issue.discriminator === undefined ? `it ${issue.message}` : nearestOf(found, choicesOf(issue));
    case 'too_small':
      return boundOf('at least', Number(issue.minimum), issue.origin);
    case 'too_big':
      return boundOf('at most', Number(issue.maximum), issue.origin);
    default:
      return `it ${issue.message}`;
  }
}

const SIZE_WORDS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function boundOf(side: 'at least' | 'at most', bound: number, origin: string): string {
  const word = SIZE_WORDS[origin];
  return word === undefined ? `it is ${side} ${bound}` : `it has ${side} ${bound} ${word}${bound === 1 ? '' : 's'}`;
}

/** The nearest known word if there is one, otherwise all of them. */
function nearestOf(found: unknown, known: readonly string[]): string {
  const nearest = typeof found === 'string' ? findNearest(found, known) : undefined;
  if (nearest !== undefined) return `nearest is "${nearest}"`;
  return known.length === 1 ? `it is ${known[0]}` : `it is one of ${known.join(', ')}`;
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : String(value);
}

/** The keys that the schema allows for the map at `path`. */
function keysAt(schema: unknown, value: unknown, path: Path): string[] {
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap(), value, path);
  if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option) => (isMeant(option, value) ? keysAt(option, value, path) : []));
  }
  const [key, ...rest] = path;
  if (key === undefined) return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const inside = valueAt(value, [key]);
  if (schema instanceof z.ZodObject) return keysAt(schema.shape[key], inside, rest);
  if (schema instanceof z.ZodArray) return keysAt(schema.element, inside, rest);
  return schema instanceof z.ZodRecord ? keysAt(schema.valueType, inside, rest) : [];
}

/** Whether this option of the union has the variable type that the value states. */
const isMeant = (option: unknown, value: unknown): boolean =>
  option instanceof z.ZodObject && option.shape.type?.safeParse(valueAt(value, ['type'])).success === true;
