// Compiles the queries of a dashboard with the default values of their variables, and with each
// other value in turn. Problems are located where the text was written, in the query or in a
// fragment.
import { type CompileContext, type CompiledQuery, compile, QUERY_BYTES_MAX } from '../query/compile.js';
import { CompileWork } from '../query/compile-work.js';
import { findNearest, QueryError, type QueryErrorDetail, type Span, type TextPlace } from '../query/errors.js';
import type { Variable, Variables } from './config-schema.js';
import {
  allowsDomain,
  type FilledTemplate,
  type Filling,
  fillTemplate,
  isTooLong,
  type VariableValues,
  writtenAt,
  writtenPart,
} from './fill-template.js';
import type { Path } from './path.js';
import type { DashboardProblem } from './problems.js';
import { parseTemplate } from './template.js';
import { findColumn } from './variable-forms.js';
import type { YamlSource } from './yaml-source.js';

export type QueryContext = Pick<CompileContext, 'projectId' | 'nowMs' | 'timezone' | 'definitions' | 'propertyKeys'>;

/** Limit of compilation work per document. The fixed cost of a query is an estimate. */
const CHARACTERS_MAX = 1024 * 1024;
const CHARACTERS_PER_QUERY = 500;
/** Limit of the wrong queries of a document that fixes are searched for: about a second. */
const CHARACTERS_TO_FIX_MAX = 10_000;

/** What is left of the limits of a document, counting all choices of its variables. */
export interface Budget {
  characters: number;
  charactersToFix: number;
}

export const newBudget = (): Budget => ({ characters: CHARACTERS_MAX, charactersToFix: CHARACTERS_TO_FIX_MAX });

export interface QueryCheck {
  readonly source: YamlSource;
  readonly variables: Variables;
  readonly context: QueryContext;
  readonly budget: Budget;
}

/** Problems of the query at `path`. Its placeholders must have been checked. */
export function checkQuery(check: QueryCheck, path: Path, template: string): DashboardProblem[] {
  const problems: DashboardProblem[] = [];
  for (const values of valuesToTry(template, check.variables)) {
    if (check.budget.characters < 0) break;
    const filled = fillTemplate(template, path, { variables: check.variables, values } satisfies Filling);
    problems.push(...compileFilled(check, filled).problems);
  }
  return problems;
}

export interface OptionsCheck extends Omit<QueryCheck, 'variables'> {
  /** Path of the select. */
  readonly path: Path;
}

/** Problems of the query behind the options of a select, and of the columns it names. */
export function checkOptionsQuery(
  { path, ...check }: OptionsCheck,
  select: Variable & { type: 'select' },
): DashboardProblem[] {
  const query = select.query ?? '';
  const { compiled, problems } = compileAt(check, [...path, 'query'], query);
  const names = compiled?.columns.map((column) => column.name) ?? [];
  const wrong = (['value_column', 'label_column'] as const).flatMap((key) => {
    const name = select[key];
    if (compiled === undefined || name === undefined || findColumn(names, name) !== undefined) return [];
    const nearest = findNearest(name, names);
    const hint = nearest === undefined ? `its columns are ${names.join(', ')}` : `nearest is "${nearest}"`;
    return [check.source.problemAt([...path, key], { message: `the query has no column "${name}"`, hint })];
  });
  return [...problems, ...wrong];
}

/** Compiles the query at `path`, which has no placeholders. */
export function compileAt(check: Omit<QueryCheck, 'variables'>, path: Path, query: string): Compiled {
  return compileFilled(check, fillTemplate(query, path, { variables: new Map(), values: new Map() }));
}

export interface Compiled {
  readonly compiled: CompiledQuery | undefined;
  readonly problems: readonly DashboardProblem[];
}

function compileFilled(check: Omit<QueryCheck, 'variables'>, filled: FilledTemplate): Compiled {
  const { source, context, budget } = check;
  budget.characters -= filled.text.length + CHARACTERS_PER_QUERY;
  if (budget.characters < 0) {
    const message = 'the queries have too many combinations with the options of their variables to be checked';
    const hint = 'remove options, or take the options of a select from a query';
    return { compiled: undefined, problems: [source.problemAt(['variables'], { message, hint })] };
  }
  if (isTooLong(filled)) {
    const message = `with its fragments, the query is longer than ${QUERY_BYTES_MAX} bytes`;
    const problem = source.problemAt(filled.pieces[0]?.path ?? [], { message, hint: 'ask in several queries' });
    return { compiled: undefined, problems: [problem] };
  }
  const work = new CompileWork();
  const suggestsFixes = filled.text.length <= budget.charactersToFix;
  try {
    return { compiled: compile(filled.text, { ...context, limit: 100, offset: 0, suggestsFixes, work }), problems: [] };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (suggestsFixes) budget.charactersToFix -= filled.text.length + work.charactersRead + CHARACTERS_PER_QUERY;
    const problems = error.details.map((detail) => toProblem(source, filled, detail));
    return { compiled: undefined, problems };
  } finally {
    budget.characters -= work.charactersRead;
  }
}

function toProblem(source: YamlSource, filled: FilledTemplate, detail: QueryErrorDetail): DashboardProblem {
  const { message, hint } = detail;
  const written = writtenAt(filled, spanOf(filled.text, detail).from);
  if (written === undefined) return source.problemAt([], { message, hint });
  const problem = source.problemInText(written.path, written.offset, { message, hint });
  const part = detail.fix && writtenPart(filled, spanOf(filled.text, detail.fix));
  const fix = detail.fix && part && source.replacementInText(part.path, part.span, detail.fix.text);
  return fix === undefined ? problem : { ...problem, fix };
}

/** The reverse of the places of an error's details. */
function spanOf(text: string, { line, column, length }: TextPlace): Span {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const from = before + lengthOf(lines[line - 1] ?? '', column - 1);
  return { from, to: from + lengthOf(text.slice(from), length) };
}

/** Of the first characters of a text, in UTF-16 units. */
const lengthOf = (text: string, characters: number): number => [...text].slice(0, characters).join('').length;

/**
 * The defaults, then each other choice of each variable in the template, one variable at a time.
 */
export function valuesToTry(template: string, variables: Variables): VariableValues[] {
  const placeholders = parseTemplate(template).flatMap((part) => (part.kind === 'placeholder' ? [part] : []));
  const mentioned = new Set(placeholders.map(({ name }) => name));
  const defaults = new Map<string, string>();
  for (const { name, facet } of placeholders) {
    const variable = variables.get(name);
    // Without a default, the query waits for a value of the viewer, so any sample value will do
    // here.
    if (variable === undefined || !needsValue(variable)) continue;
    if (facet === undefined || isRequired(variable)) defaults.set(name, sampleOf(variable));
  }
  const others = [...mentioned].flatMap((name) => {
    const variable = variables.get(name);
    return variable === undefined ? [] : choicesOf(variable).map((value) => new Map([...defaults, [name, value]]));
  });
  return [defaults, ...others];
}

function needsValue(variable: Variable): boolean {
  if (variable.type === 'date_range' || variable.default) return false;
  const options = 'options' in variable ? variable.options : undefined;
  return variable.default === undefined ? options === undefined : !options?.some(({ value }) => value === '');
}

const isRequired = (variable: Variable): boolean => variable.type === 'input' && variable.required === true;

const sampleOf = (variable: Variable): string => (variable.type === 'input' ? 'ann@example.com' : 'value');

function choicesOf(variable: Variable): string[] {
  switch (variable.type) {
    case 'select':
      return [
        ...(variable.options ?? []).map((option) => option.value),
        ...(variable.query === undefined ? [] : [sampleOf(variable)]),
      ];
    case 'input':
      return allowsDomain(variable) ? [sampleOf(variable), '*@example.com'] : [sampleOf(variable)];
    case 'date_range':
      return [];
  }
}
