// Fills the query template of a card with the values of its variables. Text of a viewer is only
// inserted as a quoted, escaped value, or selects between texts of the author. Each piece keeps its
// position in the document, so that problems can be located there.
import { PublicError } from '../platform/errors.js';
import { QUERY_BYTES_MAX } from '../query/compile.js';
import type { Span } from '../query/errors.js';
import { quoteText } from '../query/parse/strings.js';
import type { Card, DashboardConfig, Variable, Variables } from './config-schema.js';
import { RANGE_FORM, tryFormatRange } from './date-range.js';
import type { Path } from './path.js';
import { parseTemplate, type TemplatePart } from './template.js';
import { toRange } from './variable-forms.js';

/** The values a viewer chose, by name of the variable. The default applies when absent or empty. */
export type VariableValues = ReadonlyMap<string, string>;

/** A part of the filled text, and its position in the document. */
interface Piece {
  readonly text: string;
  readonly path: Path;
  readonly offset: number;
  /**
   * True for text copied from the document; false for the replacement of the placeholder at
   * `offset`.
   */
  readonly isCopied: boolean;
}

export interface FilledTemplate {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

export interface FilledQuery extends FilledTemplate {
  /** Set when the card has several queries. */
  readonly name: string | undefined;
}

const DEFAULT_RANGE = 'last 7d';

/** Every dashboard has the variable `range`, even when its document does not declare it. */
export const variablesOf = (declared: DashboardConfig['variables']): Variables =>
  new Map<string, Variable>([
    ['range', { type: 'date_range', default: DEFAULT_RANGE }],
    ...Object.entries(declared ?? {}).map(([name, variable]): [string, Variable] => [
      name,
      (toRange(name, variable) as Variable | undefined) ?? variable,
    ]),
  ]);

/**
 * The filled queries of a card. Throws bad_request for a value that its variable does not accept.
 */
export function fillCard(config: DashboardConfig, card: Card, values: VariableValues): FilledQuery[] {
  const variables = variablesOf(config.variables);
  for (const name of values.keys()) {
    if (!variables.has(name)) throw new PublicError('bad_request', `the dashboard has no variable "${name}"`);
  }
  const queries = card.queries ?? (card.query === undefined ? [] : [{ name: undefined, query: card.query }]);
  return queries.map(({ name, query }) => {
    const filled = fillTemplate(query, [], { variables, values });
    if (isTooLong(filled)) {
      throw new PublicError('bad_request', `with these values, the query is longer than ${QUERY_BYTES_MAX} bytes`);
    }
    return { name, ...filled };
  });
}

/** Also true for a text that fillTemplate has truncated, which is longer than the limit. */
export const isTooLong = ({ text }: FilledTemplate): boolean => Buffer.byteLength(text) > QUERY_BYTES_MAX;

export interface Filling {
  readonly variables: Variables;
  readonly values: VariableValues;
}

/**
 * `path` is the path of the template, whose placeholders must have been checked. Stops above the
 * maximum length of a query: a placeholder takes a few characters, and its value may take
 * thousands.
 */
export function fillTemplate(template: string, path: Path, { variables, values }: Filling): FilledTemplate {
  const chosen = new Map<string, Chosen>();
  const pieces: Piece[] = [];
  let length = 0;
  for (const part of parseTemplate(template)) {
    if (length > QUERY_BYTES_MAX) break;
    const filled = fillPart(part, path, (name) => {
      const variable = variables.get(name);
      const known = chosen.get(name) ?? (variable && choose(name, variable, values.get(name) || variable.default));
      if (known !== undefined) chosen.set(name, known);
      return known;
    });
    length += filled.reduce((sum, { text }) => sum + text.length, 0);
    pieces.push(...filled);
  }
  return { text: pieces.map((piece) => piece.text).join(''), pieces };
}

function fillPart(part: TemplatePart, path: Path, chosenOf: (name: string) => Chosen | undefined): Piece[] {
  if (part.kind === 'text') return [{ text: part.text, path, offset: part.offset, isCopied: true }];
  const chosen = part.kind === 'placeholder' ? chosenOf(part.name) : undefined;
  if (part.kind === 'placeholder' && part.literal !== undefined) {
    // Only documents of earlier versions have unknown names in texts: they stay.
    if (chosen === undefined) return [{ text: part.literal.text, path, offset: part.offset, isCopied: true }];
    if (chosen.raw === undefined) throw new PublicError('bad_request', `the variable "${part.name}" has no value`);
    return [{ text: quoteIn(part.literal, chosen.raw), path, offset: part.offset, isCopied: false }];
  }
  if (part.kind !== 'placeholder' || chosen === undefined) throw new Error(`${part.raw} cannot be filled`);
  const facet = part.last === undefined ? toFacet(chosen, part.facet) : toRangeFacet(chosen);
  if (facet === undefined) throw new PublicError('bad_request', `the variable "${part.name}" has no value`);
  if (facet.kind === 'text') return [{ text: facet.text, path, offset: part.offset, isCopied: false }];
  return fillFragment(facet, ['variables', part.name]);
}

const quoteIn = ({ before, after }: { readonly before: string; readonly after: string }, value: string): string =>
  quoteText(before + value + after);

/** The position in the document of the character at `offset` of the filled text. */
export function writtenAt({ pieces }: FilledTemplate, offset: number): { path: Path; offset: number } | undefined {
  let start = 0;
  for (const piece of pieces) {
    const inside = offset - start;
    // The end of the text belongs to the last piece.
    if (inside < piece.text.length || piece === pieces.at(-1)) {
      return { path: piece.path, offset: piece.offset + (piece.isCopied ? inside : 0) };
    }
    start += piece.text.length;
  }
  return undefined;
}

/**
 * The place in the document of a part of the filled text, `to` exclusive. Undefined unless one text
 * of the document has all of it.
 */
export function writtenPart(
  { pieces }: FilledTemplate,
  { from, to }: Span,
): { readonly path: Path; readonly span: Span } | undefined {
  let start = 0;
  for (const { text, path, offset, isCopied } of pieces) {
    const moved = offset - start;
    if (isCopied && from >= start && to <= start + text.length) {
      return { path, span: { from: from + moved, to: to + moved } };
    }
    start += text.length;
  }
  return undefined;
}

/** A fragment of the author, with `{{value}}` where it takes one. */
interface Fragment {
  readonly template: string;
  readonly value: string;
  readonly path: Path;
  /** The template is made of the text at `path`, which names a field. */
  readonly isOfField?: boolean;
}

/**
 * The value of a variable and its derived forms. Forms that the variable does not have are absent.
 */
interface Chosen {
  /** As a part of the query: a quoted text, or a range. */
  readonly value: string | undefined;
  /** As a part of a text; ranges have none. */
  readonly raw?: string;
  /** As a range without a pipe. */
  readonly range?: string | undefined;
  readonly stage?: string;
  /** Without a value, fragments are an error and not empty. */
  readonly isRequired?: boolean;
  readonly fragment?: Fragment;
  readonly fragments?: ReadonlyMap<string, Fragment>;
}

function choose(name: string, variable: Variable, text: string | undefined): Chosen {
  switch (variable.type) {
    case 'select':
      return chooseOption(name, variable, text);
    case 'input':
      return text === undefined
        ? { value: undefined, isRequired: variable.required === true }
        : chooseInput(name, variable, text);
    case 'date_range': {
      const range = tryFormatRange(text ?? DEFAULT_RANGE);
      if (range === undefined)
        throw new PublicError('bad_request', `the variable "${name}" is not a range; ${RANGE_FORM}`);
      return { value: range, range, stage: `| ${range}` };
    }
  }
}

function chooseOption(name: string, variable: Variable & { type: 'select' }, text: string | undefined): Chosen {
  const index = text === undefined ? 0 : (variable.options?.findIndex((option) => option.value === text) ?? -1);
  const option = variable.options?.[index];
  if (option !== undefined) {
    const { value, fragment: template = '' } = option;
    const path = ['options', index, 'fragment'];
    return { value: quoteText(value), raw: value, range: tryFormatRange(value), fragment: { template, value, path } };
  }
  if (variable.query === undefined) {
    throw new PublicError('bad_request', `the variable "${name}" has no such option`);
  }
  // An empty default that is no option means that nothing is chosen.
  if (!text) return { value: undefined };
  const template = variable.fragment_template ?? '';
  return { value: quoteText(text), raw: text, fragment: { template, value: text, path: ['fragment_template'] } };
}

const EMAIL = /^[^\s@*]+@[^\s@*]+\.[^\s@*]+$/;
const DOMAIN = /^\*@([^\s@*]+\.[^\s@*]+)$/;
const INPUT_LENGTH_MAX = 320;

type InputVariable = Variable & { type: 'input' };

/** `allow_domain` has two names. */
export const allowsDomain = (input: InputVariable): boolean =>
  (input.allow_domain ?? input.allow_domain_wildcard) === true;

/**
 * Whether an input accepts this text: an e-mail address or, where allowed, all addresses of a
 * domain.
 */
export const isInput = (input: InputVariable, text: string): boolean =>
  text.length <= INPUT_LENGTH_MAX && (EMAIL.test(text) || (allowsDomain(input) && DOMAIN.test(text)));

function chooseInput(name: string, variable: InputVariable, typed: string): Chosen {
  const text = typed.trim();
  const domain = allowsDomain(variable) ? DOMAIN.exec(text)?.[1] : undefined;
  if (!isInput(variable, text)) {
    const form = allowsDomain(variable) ? 'ann@example.com, or *@example.com' : 'ann@example.com';
    throw new PublicError('bad_request', `the variable "${name}" is an e-mail address: ${form}`);
  }
  const fragments = Object.entries(variable.fragments ?? {}).map(([fragment, forms]): [string, Fragment] => {
    const form = domain === undefined ? 'email' : 'domain';
    const field = domain === undefined ? 'exact_field' : 'domain_field';
    // Domains of profiles are in lower case.
    const value = domain?.toLowerCase() ?? text;
    const path = ['fragments', fragment, forms[field] === undefined ? form : field];
    const template = forms[field] === undefined ? (forms[form] ?? '') : compareField(forms[field], value);
    return [fragment, { template, value, path, isOfField: forms[field] !== undefined }];
  });
  return { value: quoteText(text), raw: text, fragments: new Map(fragments) };
}

/** An address is compared unchanged and in lower case. */
function compareField(field: string, value: string): string {
  const lower = value.toLowerCase();
  return lower === value ? `| where ${field} = {{value}}` : `| where ${field} in ({{value}}, ${quoteText(lower)})`;
}

type Facet = { readonly kind: 'text'; readonly text: string } | ({ readonly kind: 'fragment' } & Fragment);

const toText = (text: string): Facet => ({ kind: 'text', text });
const NOTHING = toText('');

const toRangeFacet = ({ range }: Chosen): Facet | undefined => (range === undefined ? undefined : toText(range));

/** Undefined when the value itself is requested and there is none. */
function toFacet(chosen: Chosen, facet: string | undefined): Facet | undefined {
  if (chosen.value === undefined && (facet === undefined || chosen.isRequired === true)) return undefined;
  if (facet === undefined) return toText(chosen.value ?? '');
  if (facet === 'stage' || (facet === 'fragment' && chosen.stage !== undefined)) return toText(chosen.stage ?? '');
  const named = facet.replace(/_fragment$/, '');
  const fragment = facet === 'fragment' ? chosen.fragment : chosen.fragments?.get(named);
  return fragment === undefined ? NOTHING : { kind: 'fragment', ...fragment };
}

function fillFragment({ template, value, path, isOfField }: Fragment, at: Path): Piece[] {
  const quoted = quoteText(value);
  const pieces: Piece[] = [];
  let length = 0;
  for (const part of parseTemplate(template)) {
    if (length > QUERY_BYTES_MAX) break;
    const text = part.kind === 'text' ? part.text : fillValue(part, value, quoted);
    length += text.length;
    const place = isOfField ? { offset: 0, isCopied: false } : { offset: part.offset, isCopied: part.kind === 'text' };
    pieces.push({ text, path: [...at, ...path], ...place });
  }
  return pieces;
}

function fillValue(part: TemplatePart, value: string, quoted: string): string {
  if (part.kind !== 'placeholder') return quoted;
  return part.literal === undefined ? (part.last ?? '') + quoted : quoteIn(part.literal, value);
}
