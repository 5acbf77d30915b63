// Second check of a dashboard document: its variables. Defaults must be valid choices, fragments
// must fit after a query, and the query of a select must have the columns that it names.
import { findNearest, quote } from '../query/errors.js';
import { checkOptionsQuery, type QueryCheck } from './check-queries.js';
import { checkFragment } from './check-templates.js';
import { type Variable, type Variables, variableSchema } from './config-schema.js';
import { RANGE_FORM, tryFormatRange } from './date-range.js';
import { allowsDomain, isInput, variablesOf } from './fill-template.js';
import type { Path } from './path.js';
import type { DashboardProblem } from './problems.js';
import { CUSTOM_RANGE, type RangeVariable, toRange } from './variable-forms.js';
import type { YamlSource } from './yaml-source.js';

export interface CheckedVariables {
  readonly sound: Variables;
  /** Names of variables with problems, structural ones included. */
  readonly wrong: ReadonlySet<string>;
}

type VariablesCheck = Omit<QueryCheck, 'variables'>;

export function checkVariables(check: VariablesCheck): { variables: CheckedVariables; problems: DashboardProblem[] } {
  const sound: Record<string, Variable>[] = [];
  const wrong = new Set<string>();
  const problems: DashboardProblem[] = [];
  const declared = check.source.at(['variables']);
  for (const [name, value] of isMap(declared) ? Object.entries(declared) : []) {
    const variable = variableSchema.safeParse(value).data;
    const found = variable === undefined ? [] : checkVariable(check, name, variable);
    problems.push(...found);
    if (variable === undefined || found.length > 0) wrong.add(name);
    else sound.push({ [name]: variable });
  }
  return { variables: { sound: variablesOf(Object.assign({}, ...sound)), wrong }, problems };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkVariable(check: VariablesCheck, name: string, variable: Variable): DashboardProblem[] {
  const path = ['variables', name];
  const { source } = check;
  if (name === 'range' && variable.type === 'input') {
    const message = `the variable "range" has the type ${variable.type}`;
    const hint = 'it is the date_range of every dashboard; choose another name';
    return [source.problemAt([...path, 'type'], { message, hint })];
  }
  switch (variable.type) {
    case 'select': {
      const range = toRange(name, variable);
      if (range !== undefined) return checkDateRange(source, path, range);
      const problems = checkSelect(source, path, variable);
      if (problems.length > 0 || variable.query === undefined) return problems;
      return checkOptionsQuery({ ...check, path }, variable);
    }
    case 'input':
      return checkInput(source, path, variable);
    case 'date_range':
      return checkDateRange(source, path, variable);
  }
}

const FROM_QUERY = ['value_column', 'label_column', 'fragment_template'] as const;

function checkSelect(source: YamlSource, path: Path, select: Variable & { type: 'select' }): DashboardProblem[] {
  const problems: DashboardProblem[] = [];
  const add = (inside: Path, message: string, hint: string) =>
    problems.push(source.problemAt([...path, ...inside], { message, hint }));
  const { options, query } = select;
  if (options === undefined && query === undefined) {
    add([], 'a select has neither options nor a query', 'it has one of the two, or both');
  }
  for (const key of query === undefined ? FROM_QUERY : []) {
    if (select[key] !== undefined)
      add([key], `${key} goes with a query`, 'options have their own value, label and fragment');
  }
  const values = options?.map((option) => option.value) ?? [];
  problems.push(...checkValues(source, path, values));
  // An empty choice of the viewer means the default.
  const empty = values.indexOf('');
  if (empty !== -1 && (select.default ?? values[0]) !== '') {
    add(
      ['options', empty, 'value'],
      'an empty value can only be the default',
      'write another value, put it first, or write default: ""',
    );
  }
  if (query === undefined && select.default !== undefined && !values.includes(select.default)) {
    add(['default'], `${quote(select.default)} is not one of the options`, nearestOf(select.default, values));
  }
  if (query?.includes('{{'))
    add(['query'], 'a query of options has no placeholders', 'write the range into it: last 30d');
  const fragments = (options ?? []).map((option, index): [Path, string | undefined] => [
    ['options', index, 'fragment'],
    option.fragment,
  ]);
  for (const [inside, fragment] of [...fragments, [['fragment_template'], select.fragment_template] as const]) {
    problems.push(...checkFragment(source, [...path, ...inside], fragment));
  }
  return problems;
}

const checkValues = (source: YamlSource, path: Path, values: readonly string[]): DashboardProblem[] =>
  values.flatMap((value, index) => {
    if (values.indexOf(value) === index) return [];
    const remark = { message: `the value ${quote(value)} is used twice`, hint: 'values differ' };
    return [source.problemAt([...path, 'options', index, 'value'], remark)];
  });

const nearestOf = (text: string, known: readonly string[]): string => {
  const nearest = findNearest(text, known);
  return nearest === undefined ? `options are ${known.map(quote).join(', ')}` : `nearest is "${nearest}"`;
};

function checkInput(source: YamlSource, path: Path, input: Variable & { type: 'input' }): DashboardProblem[] {
  const problems: DashboardProblem[] = [];
  const add = (inside: Path, message: string, hint: string) =>
    problems.push(source.problemAt([...path, ...inside], { message, hint }));
  if (input.default !== undefined && !isInput(input, input.default)) {
    add(
      ['default'],
      `${quote(input.default)} is not an e-mail address`,
      'as in ann@example.com; *@example.com needs allow_domain: true',
    );
  }
  if (input.allow_domain !== undefined && input.allow_domain_wildcard !== undefined) {
    add(['allow_domain_wildcard'], 'allow_domain_wildcard is another name of allow_domain', 'write one of the two');
  }
  for (const [name, forms] of Object.entries(input.fragments ?? {})) {
    const inside: Path = ['fragments', name];
    const { email, domain, exact_field: exactField, domain_field: domainField } = forms;
    if (email === undefined && exactField === undefined) {
      add([...inside, 'email'], '"email" is missing', 'it is the fragment for an address; or exact_field: user.email');
    }
    if (email !== undefined && exactField !== undefined) {
      add([...inside, 'exact_field'], 'exact_field goes without email', 'it is a field, email is a whole fragment');
    }
    if (domain !== undefined && domainField !== undefined) {
      add([...inside, 'domain_field'], 'domain_field goes without domain', 'it is a field, domain is a whole fragment');
    }
    if (allowsDomain(input) && domain === undefined && domainField === undefined) {
      add(
        [...inside, 'domain'],
        '"domain" is missing',
        'it is the fragment for *@example.com, where {{value}} is example.com',
      );
    }
    if (!allowsDomain(input) && domain !== undefined) {
      add([...inside, 'domain'], 'domain goes with allow_domain: true', 'without it, only e-mail addresses are taken');
    }
    problems.push(...checkFragment(source, [...path, ...inside, 'email'], email));
    problems.push(...checkFragment(source, [...path, ...inside, 'domain'], domain));
  }
  return problems;
}

/** As an option, `custom` stands for a choice of two dates. */
const isChoice = ([key]: Path, value: string): boolean => key === 'options' && value === CUSTOM_RANGE;

function checkDateRange(source: YamlSource, path: Path, range: RangeVariable): DashboardProblem[] {
  const values = range.options?.map(({ value }) => value) ?? [];
  const given: [Path, string | undefined][] = [
    [['default'], range.default],
    ...values.map((value, index): [Path, string] => [['options', index, 'value'], value]),
  ];
  const wrong = given.flatMap(([inside, value]) =>
    value === undefined || isChoice(inside, value) || tryFormatRange(value) !== undefined
      ? []
      : [source.problemAt([...path, ...inside], { message: `${quote(value)} is not a range`, hint: RANGE_FORM })],
  );
  return [...wrong, ...checkValues(source, path, values)];
}
