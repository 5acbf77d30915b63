// Completion: sources and events at the head, stages behind a pipe, fields where a field stands,
// and values of a field where it is compared.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { type DefinitionKind, writtenDefinition } from '../../../src/query/definitions/definitions.js';
import { GRANULARITIES } from '../../../src/query/fields.js';
import { STAGES } from '../../../src/query/language.js';
import { SOURCES } from '../../../src/query/sources/index.js';
import type { Name, Names } from '../api/answer.js';
import { knownFields, knownValues } from '../language/known-names.js';
import { fieldText, nameText } from '../language/names.js';

type Wanted = 'source' | 'event' | 'metric' | 'stage' | 'field' | 'group' | 'range';

const FIELD_BEHIND =
  /(?:\b(?:where|and|or|not|unique|sum|avg|min|max|median|p90|p95|p99|latest|per|unit|list|sort)|[(,])\s+$/i;
const NUMBER_BEHIND = /\b(?:sum|avg|min|max|median|p9\d)\s+$/i;
const LIST_GOES_ON = /^\s*(?:list|sort)\b.*,\s*$/;
const GROUP_BEHIND = /\bby\s+(?:[^|]*,\s*)?$/;
const EVENT_BEHIND =
  /(?:\b(?:funnel|retention|returning|from|to|lifecycle|stickiness|inspect|exclude|results)\s+|->\s*|\b(?:count|unique|sum|avg)\()$/;
const WORD = /[\w.:/$-]*$/;

/** What may stand where the word begins; undefined where completion knows nothing. */
export function wantedAt(before: string): Wanted | undefined {
  const start = before.replace(WORD, '');
  const pipe = start.lastIndexOf('|');
  const part = start.slice(pipe + 1).replace(/#.*$/gm, '');
  if (part.trim() === '') return pipe < 0 ? 'source' : 'stage';
  if (/^\s*metric\s+$/.test(part)) return 'metric';
  if (GROUP_BEHIND.test(part)) return 'group';
  if (EVENT_BEHIND.test(part) && (pipe < 0 || !/^\s*from\s+$/.test(part))) return 'event';
  if (/^\s*last\s+$/.test(part)) return 'range';
  return FIELD_BEHIND.test(part) || LIST_GOES_ON.test(part) ? 'field' : undefined;
}

const word = (label: string, detail: string): Completion => ({ label, detail, type: 'keyword' });

const SOURCE_WORDS = Object.values(SOURCES).flatMap(({ words, about }) =>
  words.map((label) => word(label, shorten(about))),
);
const STAGE_WORDS = Object.values(STAGES).flatMap(({ words, example }) => words.map((label) => word(label, example)));
const RANGE_WORDS = ['24h', '7d', '30d', '12w', '90d', '1y'].map((label) => word(label, ''));
const GROUP_WORDS = GRANULARITIES.map((label) => ({ ...word(label, 'time'), boost: 2 }));

function shorten(about: string): string {
  const plain = about.replaceAll('`', '').split(/[;:.]/)[0] ?? '';
  return plain.length > 44 ? `${plain.slice(0, 43)}…` : plain;
}

const eventsOf = (events: readonly Name[]): Completion[] =>
  events.map(({ name, detail }, index) => ({
    label: nameText(name),
    detail,
    boost: -index / 10,
  }));

/** Properties of the project, which have a type, come first, and of them numbers behind `sum`. */
const fieldsOf = (names: Names, start: string): Completion[] => [
  ...definedAs('cohort', names),
  ...knownFields(names).map(({ name, detail }) => ({
    label: fieldText(name),
    detail,
    boost: Number(detail !== '') + Number(NUMBER_BEHIND.test(start) && detail.includes('number')),
  })),
];

const definedAs = (kind: DefinitionKind, { definitions }: Names): Completion[] =>
  definitions
    .filter((definition) => definition.kind === kind)
    .map((definition) => ({ label: writtenDefinition(definition), detail: definition.about ?? definition.query }));

function optionsOf(wanted: Wanted, names: Names, start: string): Completion[] {
  const { events } = names;
  switch (wanted) {
    case 'source':
      return [
        ...[...definedAs('event', names), ...definedAs('metric', names)],
        ...[...eventsOf(events), word('*', 'all events'), ...SOURCE_WORDS],
      ];
    case 'event':
      return [...definedAs('event', names), ...eventsOf(events), word('*', 'all events')];
    case 'metric':
      return definedAs('metric', names).map((of) => ({ ...of, label: of.label.replace('metric ', '') }));
    case 'stage':
      return STAGE_WORDS;
    case 'range':
      return RANGE_WORDS;
    case 'group':
      return [...GROUP_WORDS, ...fieldsOf(names, start)];
    case 'field':
      return fieldsOf(names, start);
  }
}

/**
 * A value behind an operator, perhaps with its opening quote; others may stand before it in a list.
 */
const VALUE_BEHIND =
  /(?<field>[\w.$-]+(?:"[^"]*")?)\s*(?:==?|!=|<>|\b(?:not\s+)?(?:contains|starts\s+with|ends\s+with)\s|\b(?:not\s+)?in\s*[([](?:\s*"[^"]*"\s*,)*)\s*(?<typed>"[^"|\n]*|[\w.:/$-]*)$/i;

export interface ComparedValue {
  readonly field: string;
  readonly typed: string;
}

/**
 * The field that is compared with a value which begins or goes on where the text ends; undefined
 * elsewhere.
 */
export function comparedAt(before: string): ComparedValue | undefined {
  const { field, typed } = VALUE_BEHIND.exec(before)?.groups ?? {};
  return field === undefined || typed === undefined ? undefined : { field, typed };
}

function valueCompletion(context: CompletionContext, before: string, names: Names): CompletionResult | null {
  const compared = comparedAt(before);
  const values = compared === undefined ? [] : knownValues(names, compared.field);
  if (compared === undefined || values.length === 0) return null;
  const isClosed = compared.typed.startsWith('"') && context.state.sliceDoc(context.pos, context.pos + 1) === '"';
  return {
    from: context.pos - compared.typed.length,
    to: context.pos + (isClosed ? 1 : 0),
    options: values.map((value, index) => ({ label: JSON.stringify(value), boost: -index / 10 })),
    validFor: /^"?[^"|\n]*$/,
  };
}

const NO_NAMES: Names = { events: [], fields: [], values: new Map(), definitions: [] };

export const completionSource =
  (names: () => Names | undefined) =>
  (context: CompletionContext): CompletionResult | null => {
    const before = context.state.sliceDoc(0, context.pos);
    const known = names() ?? NO_NAMES;
    const value = valueCompletion(context, before, known);
    if (value !== null) return value;
    const wanted = wantedAt(before);
    if (wanted === undefined) return null;
    const typed = WORD.exec(before)?.[0] ?? '';
    // Without a letter it opens by itself only behind what calls for a name.
    if (typed === '' && !context.explicit && (wanted === 'source' || wanted === 'stage')) return null;
    return {
      from: context.pos - typed.length,
      options: optionsOf(wanted, known, before.replace(WORD, '')),
      validFor: /^[\w.:/$-]*$/,
    };
  };
