// Chips over the text of a query: its source, time range, filters, measure, groups and further
// stages. Each chip has the span of the text that it edits; comments, blanks and everything else
// stay. What no chip can edit is a chip of text.
import { parse } from '../../../src/query/parse/parse.js';
import { collapseBlanks } from '../../../src/query/parse/strings.js';
import type { Condition, EventPattern, GroupKey, Query, Source, Stage } from '../../../src/query/parse/syntax.js';
import { check, RANGES, type Span } from './language.js';

export type ChipKind = 'source' | 'event' | 'time' | 'filter' | 'measure' | 'group' | 'window' | 'compare' | 'text';

export interface Chip {
  readonly kind: ChipKind;
  readonly label: string;
  readonly span: Span;
  /** The span to remove with the chip; undefined when the query needs it. */
  readonly removal?: Span;
  /** Only of a filter: what its form shows. */
  readonly filter?: Filter;
  /** Only of a step of a funnel: it changes places with the step before or behind it. */
  readonly moves?: readonly Move[];
}

export interface Move {
  readonly to: 'earlier' | 'later';
  /** Both steps. */
  readonly span: Span;
  readonly text: string;
}

export interface Filter {
  readonly field: string;
  readonly operator: string;
  /** As it is written. */
  readonly value: string;
}

export interface Chips {
  readonly chips: readonly Chip[];
  /** Where another one is inserted, and what precedes it there. */
  readonly insertions: Readonly<
    Partial<Record<'event' | 'time' | 'filter' | 'measure' | 'group' | 'window', Insertion>>
  >;
}

export interface Insertion {
  readonly at: number;
  readonly before: string;
}

const NO_CHIPS: Chips = { chips: [], insertions: {} };

/** Undefined for a text with syntax problems: the text is then the only way to edit it. */
export function chipsOf(text: string): Chips | undefined {
  if (text.trim() === '') return NO_CHIPS;
  const { query, problems } = parse(text);
  if (problems.length > 0 || query.source === undefined || query.source === 'broken') return undefined;
  return new ChipReader(text, query, query.source).read();
}

/**
 * Where `compare` is inserted; undefined where the query does not take it. Not one of the other
 * insertions, because only the analyzer knows.
 */
export function comparisonIn(text: string): Insertion | undefined {
  const { source, stages } = parse(text).query;
  if (source === undefined || source === 'broken') return undefined;
  const at = Math.max(source.span.to, ...stages.map(({ span }) => span.to));
  const compared = `${text.slice(0, at)} | compare previous${text.slice(at)}`;
  return check(compared, 'UTC').length === 0 ? { at, before: ' | ' } : undefined;
}

class ChipReader {
  readonly #text: string;
  readonly #query: Query;
  readonly #source: Source;
  readonly #chips: Chip[] = [];

  constructor(text: string, query: Query, source: Source) {
    this.#text = text;
    this.#query = query;
    this.#source = source;
  }

  read(): Chips {
    const source = this.#source;
    const events = eventsOf(source);
    this.#add({ kind: 'source', label: labelOf(source), span: source.span });
    for (const index of events.keys()) this.#event(events, index);
    for (const stage of this.#query.stages) this.#stage(stage);
    return { chips: this.#chips, insertions: this.#insertions(events) };
  }

  #add(chip: Chip): void {
    this.#chips.push(chip);
  }

  #event(events: readonly EventPattern[], index: number): void {
    const [before, event, after] = [events[index - 1], events[index], events[index + 1]];
    if (event === undefined) return;
    const isPlain = event.matches.length === 1 && event.matches[0]?.condition === undefined;
    const isStep = this.#source.kind === 'funnel';
    this.#add({
      kind: isPlain ? 'event' : 'text',
      label: event.written,
      span: event.span,
      // The first step is followed by its arrow; the others are preceded by it.
      ...(isStep && events.length > 2 && before && { removal: { from: before.span.to, to: event.span.to } }),
      ...(isStep && {
        moves: [
          ...(before ? [this.#swap('earlier', before, event)] : []),
          ...(after ? [this.#swap('later', event, after)] : []),
        ],
      }),
    });
  }

  #swap(to: Move['to'], { span: first }: EventPattern, { span: second }: EventPattern): Move {
    const pieces = [second, { from: first.to, to: second.from }, first].map(({ from, to }) =>
      this.#text.slice(from, to),
    );
    return { to, span: { from: first.from, to: second.to }, text: pieces.join('') };
  }

  #stage(stage: Stage): void {
    if (RANGES.includes(stage.kind)) {
      this.#add({ kind: 'time', label: this.#written(stage.span), span: stage.span, removal: this.#withPipe(stage) });
    } else if (stage.kind === 'compare' || stage.kind === 'window') {
      const label = this.#written(stage.span).slice(stage.kind.length + 1);
      this.#add({ kind: stage.kind, label, span: stage.span, removal: this.#withPipe(stage) });
    } else if (stage.kind === 'where') {
      this.#where(stage.span, stage.condition, this.#withPipe(stage));
    } else if (stage.kind === 'aggregate') {
      const { from } = stage.span;
      const end = stage.per?.span.to ?? stage.field?.span.to ?? from + stage.name.length;
      const kind = stage.per === undefined ? 'measure' : 'text';
      this.#add({ kind, label: this.#written({ from, to: end }), span: { from, to: end } });
      this.#groups(stage.by, { from: end, to: stage.span.to });
    } else if (stage.kind === 'by') {
      this.#groups(stage.keys, this.#withPipe(stage));
    } else {
      this.#add({ kind: 'text', label: this.#written(stage.span), span: stage.span, removal: this.#withPipe(stage) });
    }
  }

  /** A chip for each comparison that must hold; anything else is text. */
  #where(span: Span, condition: Condition, whole: Span): void {
    const items = condition.kind === 'and' ? condition.items : [condition];
    const isSimple =
      items.every(({ kind }) => kind === 'comparison') && !this.#text.slice(span.from, span.to).includes('(');
    if (!isSimple) {
      this.#add({ kind: 'text', label: this.#written(span), span, removal: whole });
      return;
    }
    for (const [index, item] of items.entries()) {
      if (item.kind !== 'comparison') continue;
      this.#add({
        kind: 'filter',
        label: this.#written(item.span),
        span: item.span,
        removal: removalOf(items, index, whole),
        filter: this.#filter(item),
      });
    }
  }

  #filter(item: Extract<Condition, { kind: 'comparison' }>): Filter {
    const [first] = item.values;
    const last = item.values.at(-1);
    const value = first && last ? this.#text.slice(first.span.from, last.span.to) : '';
    return { field: item.field.written, operator: item.operator.text, value };
  }

  #groups(keys: readonly GroupKey[], whole: Span): void {
    const spans = keys.map((key) => ({ span: key.kind === 'name' ? key.name.span : key.span }));
    for (const [index, key] of keys.entries()) {
      const span = spans[index]?.span ?? whole;
      const kind = key.kind === 'name' ? 'group' : 'text';
      this.#add({ kind, label: this.#written(span), span, removal: removalOf(spans, index, whole) });
    }
  }

  /** The stage with the pipe before it, or without one where it follows its source directly. */
  #withPipe({ span }: Stage): Span {
    const end = this.#endBefore(span.from);
    const between = this.#text.slice(end, span.from);
    const pipe = between.replace(/#.*$/gm, (comment) => ' '.repeat(comment.length)).indexOf('|');
    // Comments before the pipe stay.
    const from = pipe >= 0 ? end + pipe : span.from;
    return { from: this.#text[from - 1] === ' ' ? from - 1 : from, to: span.to };
  }

  #endBefore(at: number): number {
    const ends = [this.#source.span, ...this.#query.stages.map(({ span }) => span)].map(({ to }) => to);
    return Math.max(0, ...ends.filter((end) => end <= at));
  }

  #written({ from, to }: Span): string {
    return collapseBlanks(this.#text.slice(from, to)).trim();
  }

  #insertions(events: readonly EventPattern[]): Chips['insertions'] {
    const { stages, source } = { ...this.#query, source: this.#source };
    const head = stages.find(({ kind, span }) => kind === 'by' && !this.#hasPipe(source.span.to, span.from));
    const at = head?.span.to ?? source.span.to;
    const has = (...kinds: readonly string[]): boolean => stages.some(({ kind }) => kinds.includes(kind));
    const lastStep = source.kind === 'funnel' ? events.at(-1) : undefined;
    const range = stages.find(({ kind }) => RANGES.includes(kind));
    const end = Math.max(at, ...stages.map(({ span }) => span.to));
    return {
      ...(lastStep && { event: { at: lastStep.span.to, before: ' -> ' } }),
      ...(!range && { time: { at, before: ' | ' } }),
      ...(TAKES_FILTERS.has(source.kind) && { filter: { at: range?.span.to ?? at, before: ' | where ' } }),
      ...(TAKES_MEASURES.has(source.kind) && !has('aggregate', 'list') && { measure: { at: end, before: ' | ' } }),
      ...(TAKES_WINDOW.has(source.kind) && !has('window') && { window: { at: end, before: ' | ' } }),
      ...this.#groupInsertion(),
    };
  }

  #groupInsertion(): Chips['insertions'] {
    const { stages } = this.#query;
    const by = stages.findLast((stage) => stage.kind === 'by' || (stage.kind === 'aggregate' && stage.by.length > 0));
    if (by) return { group: { at: by.span.to, before: ', ' } };
    const aggregate = stages.findLast(({ kind }) => kind === 'aggregate');
    if (aggregate) return { group: { at: aggregate.span.to, before: ' by ' } };
    const end = Math.max(this.#source.span.to, ...stages.map(({ span }) => span.to));
    return TAKES_GROUPS.has(this.#source.kind) ? { group: { at: end, before: ' | by ' } } : {};
  }

  #hasPipe(from: number, to: number): boolean {
    return this.#text.slice(from, to).includes('|');
  }
}

const EVENT_SOURCES = ['all', 'event', 'user', 'users', 'sessions'] as const;
const TAKES_MEASURES: ReadonlySet<string> = new Set(EVENT_SOURCES);
const TAKES_GROUPS: ReadonlySet<string> = new Set(['funnel', 'retention', 'lifecycle']);
const TAKES_WINDOW: ReadonlySet<string> = new Set(['funnel', 'paths']);
const TAKES_FILTERS: ReadonlySet<string> = new Set([
  ...EVENT_SOURCES,
  ...['funnel', 'retention', 'lifecycle', 'stickiness', 'paths', 'formula', 'metric', 'fields', 'choice'],
]);

function eventsOf(source: Source): readonly EventPattern[] {
  switch (source.kind) {
    case 'funnel':
      return source.steps;
    case 'retention':
      return source.returning === undefined ? [source.start] : [source.start, source.returning];
    case 'paths':
      return [source.anchor];
    case 'lifecycle':
    case 'stickiness':
    case 'inspect':
      return [source.event];
    default:
      return [];
  }
}

const labelOf = (source: Source): string =>
  source.kind === 'all'
    ? 'all events'
    : source.kind === 'event'
      ? source.event.written
      : source.kind === 'metric'
        ? `metric ${source.name.text}`
        : source.kind;

/** One of a list that is removed with the sign beside it; the last one takes the whole. */
function removalOf(items: readonly { readonly span: Span }[], index: number, whole: Span): Span {
  const [own, before, after] = [items[index]?.span ?? whole, items[index - 1]?.span, items[index + 1]?.span];
  if (before) return { from: before.to, to: own.to };
  return after ? { from: own.from, to: after.from } : whole;
}
