// A worker's cache of the catalog names that are stored already. It decides which names of a block
// are new and must be stored, within the limits of a project.
import { BOUNDS } from '../platform/flow/bounds.js';
import { type CatalogName, EVENT_TYPES } from './names.js';

interface Count {
  stored: number;
  /** Events since the count was stored. */
  added: number;
}
type Counts = Map<string, Count>;

/** What a block changes in the stored catalog. */
export interface CatalogChange {
  /** Names with the events to add. */
  readonly names: readonly CatalogName[];
  /** Fields that now have too many values: theirs are deleted. */
  readonly dropped: readonly string[];
}

export class KnownNames {
  readonly generation: number;
  readonly #events: Counts = new Map();
  /** Types by property. */
  readonly #keys = new Map<string, Counts>();
  readonly #values = new Map<string, Counts>();
  readonly #many = new Set<string>();
  #valueCount = 0;

  constructor(generation: number, stored: readonly CatalogName[]) {
    this.generation = generation;
    for (const { kind, field } of stored) if (kind === 'many') this.#many.add(field);
    for (const name of stored) {
      if (name.kind !== 'many' && !this.#isDropped(name)) this.#add(name);
    }
  }

  /** Names, as a measure of memory. */
  get size(): number {
    return this.#events.size + this.#keys.size + this.#valueCount + this.#many.size;
  }

  isMany(field: string): boolean {
    return this.#many.has(field);
  }

  /** Whether `add` would change the stored names, beside their counts. */
  hasNew(seen: Iterable<CatalogName>): boolean {
    for (const name of seen) if (!this.#isKnown(name) && !this.#isOfUnknownKey(name)) return true;
    return false;
  }

  #isKnown({ kind, field, name }: CatalogName): boolean {
    if (kind === 'many') return this.#many.has(field);
    if (kind === 'event') return this.#events.has(name) || this.#many.has(EVENT_TYPES);
    if (kind === 'key') return this.#keys.get(field)?.has(name) ?? this.#many.has(bagOf(field));
    return this.#many.has(field) || this.#values.get(field)?.has(name) === true;
  }

  /**
   * Adds the names of a block. A count is stored again when it has doubled: a name is written a few
   * dozen times in its life, and the order of frequent names is known.
   */
  add(seen: Iterable<CatalogName>): CatalogChange {
    const names: CatalogName[] = [];
    const dropped: string[] = [];
    const setMany = (field: string): void => {
      if (this.#many.has(field)) return;
      if (this.#values.has(field)) dropped.push(field);
      this.#setMany(field);
      names.push({ kind: 'many', field, name: '', events: 0 });
    };
    for (const name of seen) {
      if (this.#isOfUnknownKey(name)) continue;
      const full = name.kind === 'many' ? name.field : this.#fullGroupOf(name);
      if (full !== undefined) setMany(full);
      else if (!this.#isDropped(name)) {
        const events = this.#countEvents(name);
        if (events !== undefined) names.push({ ...name, events });
      }
    }
    // Values of a field may precede the one that was too many.
    return { names: names.filter((name) => !this.#isDropped(name)), dropped };
  }

  /** What `add` has counted and not returned yet, which is then stored. */
  takeCounted(): CatalogName[] {
    return [
      ...takeFrom(this.#events, { kind: 'event', field: '' }),
      ...[...this.#keys].flatMap(([field, counts]) => takeFrom(counts, { kind: 'key', field })),
      ...[...this.#values].flatMap(([field, counts]) => takeFrom(counts, { kind: 'value', field })),
    ];
  }

  /** Values follow their key, which is not kept when the project has too many. */
  #isOfUnknownKey({ kind, field }: CatalogName): boolean {
    return kind !== 'event' && kind !== 'key' && field.includes('.') && !this.#keys.has(field);
  }

  #isDropped({ kind, field }: CatalogName): boolean {
    return kind === 'value' && this.#many.has(field);
  }

  #setMany(field: string): void {
    this.#many.add(field);
    this.#valueCount -= this.#values.get(field)?.size ?? 0;
    this.#values.delete(field);
  }

  /** The group that has no room for a new name; undefined when there is room. */
  #fullGroupOf({ kind, field, name }: CatalogName): string | undefined {
    if (kind === 'event') {
      return this.#events.has(name) || this.#events.size < BOUNDS.catalogEvents ? undefined : EVENT_TYPES;
    }
    if (kind === 'key') {
      return this.#keys.has(field) || this.#keys.size < BOUNDS.catalogKeys ? undefined : bagOf(field);
    }
    if (this.#many.has(field)) return undefined;
    const values = this.#values.get(field);
    const hasRoom = (values?.size ?? 0) < BOUNDS.catalogFieldValues && this.#valueCount < BOUNDS.catalogValues;
    return values?.has(name) || hasRoom ? undefined : field;
  }

  #countsOf({ kind, field }: CatalogName): Counts {
    if (kind === 'event') return this.#events;
    const byField = kind === 'key' ? this.#keys : this.#values;
    const known = byField.get(field) ?? new Map<string, Count>();
    byField.set(field, known);
    return known;
  }

  #add(seen: CatalogName): void {
    this.#countsOf(seen).set(seen.name, { stored: seen.events, added: 0 });
    if (seen.kind === 'value') this.#valueCount += 1;
  }

  /** The events to add to the stored count now, of a new name also none; undefined: not yet. */
  #countEvents(seen: CatalogName): number | undefined {
    const known = this.#countsOf(seen).get(seen.name);
    if (known === undefined) {
      this.#add(seen);
      return seen.events;
    }
    known.added += seen.events;
    return known.added === 0 || known.added < known.stored ? undefined : takeAdded(known);
  }
}

function takeAdded(count: Count): number {
  const { added } = count;
  count.stored += added;
  count.added = 0;
  return added;
}

const takeFrom = (counts: Counts, of: Pick<CatalogName, 'kind' | 'field'>): CatalogName[] =>
  [...counts].filter(([, { added }]) => added > 0).map(([name, count]) => ({ ...of, name, events: takeAdded(count) }));

const bagOf = (field: string): string => field.split('.', 1)[0] ?? '';
