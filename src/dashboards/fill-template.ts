// Fills the query template of a card with the values of its variables. Text of a viewer is only
// inserted as a quoted, escaped value, or selects between texts of the author. Each piece keeps its
// position in the document, so that problems can be located there.
import { PublicError } from '../platform/errors.js';
import { QUERY_BYTES_MAX } from '../query/compile.js';
import { quoteText } from '../query/parse/strings.js';
import type { Card, DashboardConfig, Variable, Variables } from './config-schema.js';
import { RANGE_FORM, tryFormatRange } from './date-range.js';
import type { Path } from './path.js';
import { parseTemplate, type TemplatePart } from './template.js';

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
    ...Object.entries(declared ?? {}),
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
  if (part.kind !== 'placeholder' || chosen === undefined) throw new Error(`${part.raw} cannot be filled`);
  const facet = toFacet(chosen, part.facet);
  if (facet === undefined) throw new PublicError('bad_request', `the variable "${part.name}" has no value`);
  if (facet.kind === 'text') return [{ text: facet.text, path, offset: part.offset, isCopied: false }];
  return fillFragment(facet, ['variables', part.name]);
}

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

/** A fragment of the author, with `{{value}}` where it takes one. */
interface Fragment {
  readonly template: string;
  readonly value: string;
  readonly path: Path;
}

/**
 * The value of a variable and its derived forms. Forms that the variable does not have are absent.
 */
interface Chosen {
  readonly value: string | undefined;
  readonly stage?: string;
  readonly fragment?: Fragment;
  readonly fragments?: ReadonlyMap<string, Fragment>;
}

function choose(name: string, variable: Variable, text: string | undefined): Chosen {
  switch (variable.type) {
    case 'select':
      return chooseOption(name, variable, text);
    case 'input':
      return text === undefined ? { value: undefined } : chooseInput(name, variable, text);
    case 'date_range': {
      const range = tryFormatRange(text ?? DEFAULT_RANGE);
      if (range === undefined)
        throw new PublicError('bad_request', `the variable "${name}" is not a range; ${RANGE_FORM}`);
      return { value: range, stage: `| ${range}` };
    }
  }
}

function chooseOption(name: string, variable: Variable & { type: 'select' }, text: string | undefined): Chosen {
  if (variable.options === undefined) {
    if (text === undefined) return { value: undefined };
    const template = variable.fragment_template ?? '';
    return { value: quoteText(text), fragment: { template, value: text, path: ['fragment_template'] } };
  }
  const index = text === undefined ? 0 : variable.options.findIndex((option) => option.value === text);
  const option = variable.options[index];
  if (option === undefined) throw new PublicError('bad_request', `the variable "${name}" has no such option`);
  const path = ['options', index, 'fragment'];
  return { value: quoteText(option.value), fragment: { template: option.fragment ?? '', value: option.value, path } };
}

const EMAIL = /^[^\s@*]+@[^\s@*]+\.[^\s@*]+$/;
const DOMAIN = /^\*@([^\s@*]+\.[^\s@*]+)$/;
const INPUT_LENGTH_MAX = 320;

/**
 * Whether an input accepts this text: an e-mail address or, where allowed, all addresses of a
 * domain.
 */
export const isInput = ({ allow_domain }: Variable & { type: 'input' }, text: string): boolean =>
  text.length <= INPUT_LENGTH_MAX && (EMAIL.test(text) || (allow_domain === true && DOMAIN.test(text)));

function chooseInput(name: string, variable: Variable & { type: 'input' }, text: string): Chosen {
  const domain = variable.allow_domain === true ? DOMAIN.exec(text)?.[1] : undefined;
  if (!isInput(variable, text)) {
    const form = variable.allow_domain ? 'ann@example.com, or *@example.com' : 'ann@example.com';
    throw new PublicError('bad_request', `the variable "${name}" is an e-mail address: ${form}`);
  }
  const fragments = Object.entries(variable.fragments ?? {}).map(([fragment, forms]): [string, Fragment] => {
    const form = domain === undefined ? 'email' : 'domain';
    return [fragment, { template: forms[form] ?? '', value: domain ?? text, path: ['fragments', fragment, form] }];
  });
  return { value: quoteText(text), fragments: new Map(fragments) };
}

type Facet = { readonly kind: 'text'; readonly text: string } | ({ readonly kind: 'fragment' } & Fragment);

const NOTHING: Facet = { kind: 'text', text: '' };

/** Undefined when the value itself is requested and there is none. */
function toFacet(chosen: Chosen, facet: string | undefined): Facet | undefined {
  if (facet === undefined) return chosen.value === undefined ? undefined : { kind: 'text', text: chosen.value };
  if (facet === 'stage') return { kind: 'text', text: chosen.stage ?? '' };
  const named = facet.replace(/_fragment$/, '');
  const fragment = facet === 'fragment' ? chosen.fragment : chosen.fragments?.get(named);
  return fragment === undefined ? NOTHING : { kind: 'fragment', ...fragment };
}

function fillFragment({ template, value, path }: Fragment, at: Path): Piece[] {
  const quoted = quoteText(value);
  const pieces: Piece[] = [];
  let length = 0;
  for (const part of parseTemplate(template)) {
    if (length > QUERY_BYTES_MAX) break;
    const text = part.kind === 'text' ? part.text : quoted;
    length += text.length;
    pieces.push({ text, path: [...at, ...path], offset: part.offset, isCopied: part.kind === 'text' });
  }
  return pieces;
}
