// Checks the placeholders of queries and fragments: known variables, known forms, not inside
// quotes. Does not compile the filled query.
import { findNearest, quote } from '../query/errors.js';
import type { Variable, Variables } from './config-schema.js';
import { tryFormatRange } from './date-range.js';
import { allowsDomain } from './fill-template.js';
import type { Path } from './path.js';
import type { DashboardProblem } from './problems.js';
import { findOpenEnd, parseTemplate, type TemplatePart } from './template.js';
import type { Remark, YamlSource } from './yaml-source.js';

type Placeholder = Extract<TemplatePart, { kind: 'placeholder' }>;

const PLACEHOLDER_FORM = 'a placeholder is {{name}}, {{name.stage}}, {{name.fragment}} or {{name.<fragment>_fragment}}';
const QUOTED_HINT = 'a text has one plain value of a select or an input: remove the quotes around it';

export interface TemplateCheck {
  readonly source: YamlSource;
  /** Path of the template. */
  readonly path: Path;
  readonly variables: Variables;
}

/** Problems of the placeholders of a query. */
export function checkPlaceholders({ source, path, variables }: TemplateCheck, template: string): DashboardProblem[] {
  return parseTemplate(template).flatMap((part) => {
    if (part.kind === 'text') return [];
    const remark = part.kind === 'mistake' ? toMistake(part) : findMisuse(part, variables);
    return remark === undefined ? [] : [source.problemInText(path, part.offset, remark)];
  });
}

const toMistake = ({ raw, isQuoted }: { readonly raw: string; readonly isQuoted: boolean }): Remark =>
  isQuoted
    ? { message: `${raw} is inside quotes`, hint: QUOTED_HINT }
    : { message: `${quote(raw)} is not a placeholder`, hint: PLACEHOLDER_FORM };

function findMisuse(placeholder: Placeholder, variables: Variables): Remark | undefined {
  const { name, facet, raw, literal, last } = placeholder;
  const variable = variables.get(name);
  if (variable === undefined) {
    const nearest = findNearest(name, variables.keys());
    const hint =
      nearest === undefined ? `variables are ${[...variables.keys()].join(', ')}` : `nearest is "${nearest}"`;
    return { message: `unknown variable "${name}"`, hint };
  }
  if (literal !== undefined && variable.type === 'date_range') return toMistake({ ...placeholder, isQuoted: true });
  if (last !== undefined && !isRange(variable)) {
    return { message: `"${name}" is not a range`, hint: 'after last stands one, or a select whose options are ranges' };
  }
  const known = facetsOf(variable);
  if (known.includes(facet)) return undefined;
  const forms = known.map((form) => (form === undefined ? `{{${name}}}` : `{{${name}.${form}}}`));
  return {
    message: `"${name}" has no ${raw}`,
    hint: `it has ${forms.join(', ') || 'no fragments yet'}`,
  };
}

const isRange = (variable: Variable): boolean =>
  variable.type === 'date_range' ||
  (variable.type === 'select' &&
    variable.query === undefined &&
    variable.options?.every(({ value }) => tryFormatRange(value) !== undefined) === true);

/** What may follow the name of a variable and a dot; undefined is the plain value. */
function facetsOf(variable: Variable): (string | undefined)[] {
  switch (variable.type) {
    case 'select':
      return [undefined, 'fragment'];
    case 'input': {
      const fragments = Object.keys(variable.fragments ?? {}).map((name) => `${name}_fragment`);
      // A field cannot be compared with a domain, so a domain is only usable through fragments.
      return allowsDomain(variable) ? fragments : [undefined, ...fragments];
    }
    case 'date_range':
      return [undefined, 'stage', 'fragment'];
  }
}

/** Problems of a fragment, which may only contain `{{value}}`. */
export function checkFragment(source: YamlSource, path: Path, fragment: string | undefined): DashboardProblem[] {
  if (fragment === undefined || fragment.trim() === '') return [];
  const problems = parseTemplate(fragment).flatMap((part): DashboardProblem[] => {
    if (part.kind === 'text') return [];
    if (part.kind === 'mistake') return [source.problemInText(path, part.offset, toMistake(part))];
    if (part.name === 'value' && part.facet === undefined) return [];
    const remark = {
      message: `${part.raw} is not known in a fragment`,
      hint: 'only {{value}} is: the chosen value, quoted',
    };
    return [source.problemInText(path, part.offset, remark)];
  });
  if (!fragment.trimStart().startsWith('|')) {
    problems.push(
      source.problemAt(path, {
        message: 'the fragment does not start with a pipe',
        hint: 'a fragment is: | where plan = "pro"',
      }),
    );
  }
  const openEnd = findOpenEnd(fragment);
  if (openEnd !== undefined) {
    const remark = { message: `the fragment has ${openEnd}`, hint: 'it would extend into the text after the fragment' };
    problems.push(source.problemAt(path, remark));
  }
  return problems;
}
