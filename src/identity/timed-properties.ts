// Properties of one profile with the time of their last change, by which imported values find their
// place among live calls: an imported value counts until something newer is known, and increments
// that are newer than it are added to it.
import { ProfileProperties } from './profile-properties.js';
import { addTo, type Properties, type PropertyOps, type PropertyValue } from './property-ops.js';

/**
 * By key, in microseconds: when the value was set or removed; 0 for one of $set_once, which any
 * imported value precedes. As a list when increments followed: that time, then the number and the
 * increment of each.
 */
export type PropertyTimes = Readonly<Record<string, number | readonly number[]>>;

/**
 * Increments that a profile remembers. Older ones become part of their value, which imported values
 * from before then no longer change.
 */
const INCREMENTS_MAX = 256;
/** Removed keys whose times a profile remembers; the newest count. */
const REMOVED_MAX = 256;

interface Changed {
  /** When the value was set or removed. */
  readonly seq: number;
  /** Newer than that, ascending. */
  readonly increments: readonly Increment[];
}

interface Increment {
  readonly seq: number;
  readonly amount: number;
}

export class TimedProperties {
  readonly #values: ProfileProperties;
  readonly #times: Map<string, number | readonly number[]>;
  /** The time of properties from before times were kept. */
  readonly #unknownSeq: number;

  constructor(properties: Properties, times: PropertyTimes, unknownSeq: number) {
    this.#values = new ProfileProperties(properties);
    this.#times = new Map(Object.entries(times));
    this.#unknownSeq = unknownSeq;
  }

  get properties(): Properties {
    return Object.fromEntries(this.#values);
  }

  /** Within the limits. */
  toTimes(): PropertyTimes {
    this.#forgetIncrements();
    this.#forgetRemoved();
    return Object.fromEntries(this.#times);
  }

  /**
   * Applies a live call, after all live calls with smaller numbers. The order of its operations is
   * $set (user_properties included), $set_once, $add, $unset.
   */
  apply(seq: number, { set = {}, setOnce = {}, add = {}, unset = [] }: PropertyOps): void {
    const isLatest = (key: string): boolean => !this.#times.has(key) || this.#changeOf(key).seq <= seq;
    for (const [key, value] of Object.entries(set))
      if (isLatest(key)) this.#replace(key, value, { seq, increments: [] });
    for (const [key, value] of Object.entries(setOnce)) {
      if (isLatest(key) && !this.#values.has(key)) this.#replace(key, value, this.#changeOf(key));
    }
    for (const [key, amount] of Object.entries(add)) {
      if (!isLatest(key)) continue;
      const { seq: base, increments } = this.#changeOf(key);
      const changed = { seq: Math.min(base, seq), increments: [...increments, { seq, amount }] };
      this.#replace(key, addTo(this.#values.get(key), amount), changed);
    }
    for (const key of unset) if (isLatest(key)) this.#replace(key, null, { seq, increments: [] });
  }

  /** Applies values of an import, in any order. Of two of the same time the larger JSON counts. */
  applyImported(seq: number, set: Readonly<Record<string, PropertyValue | null>>): void {
    for (const [key, value] of Object.entries(set)) {
      if (value === null) continue;
      const known = this.#changeOf(key);
      if (seq < known.seq || (seq === known.seq && !this.#isLarger(key, value))) continue;
      const increments = known.increments.filter((increment) => increment.seq > seq);
      const sum = increments.reduce<PropertyValue>((before, { amount }) => addTo(before, amount), value);
      this.#replace(key, sum, { seq, increments });
    }
  }

  #isLarger(key: string, value: PropertyValue): boolean {
    const current = this.#values.get(key);
    return current !== undefined && JSON.stringify(value) > JSON.stringify(current);
  }

  #changeOf(key: string): Changed {
    const known = this.#times.get(key);
    if (known === undefined) return { seq: this.#values.has(key) ? this.#unknownSeq : 0, increments: [] };
    if (typeof known === 'number') return { seq: known, increments: [] };
    const increments: Increment[] = [];
    for (let at = 1; at < known.length; at += 2) {
      increments.push({ seq: known[at] as number, amount: known[at + 1] as number });
    }
    return { seq: known[0] ?? 0, increments };
  }

  #replace(key: string, value: PropertyValue | null, { seq, increments }: Changed): void {
    if (value === null) this.#values.delete(key);
    else this.#values.set(key, value);
    // A value above the size limit is dropped, and the previous one stays with its time.
    if (value !== null && this.#values.get(key) !== value) return;
    this.#times.set(
      key,
      increments.length === 0 ? seq : [seq, ...increments.flatMap(({ seq: at, amount }) => [at, amount])],
    );
  }

  #forgetIncrements(): void {
    const seqs = [...this.#times.keys()].flatMap((key) => this.#changeOf(key).increments.map(({ seq }) => seq));
    if (seqs.length <= INCREMENTS_MAX) return;
    const cut = seqs.sort((one, other) => one - other).at(-INCREMENTS_MAX - 1) ?? 0;
    for (const key of this.#times.keys()) {
      const { seq, increments } = this.#changeOf(key);
      const forgotten = increments.filter((increment) => increment.seq <= cut).at(-1)?.seq;
      if (forgotten === undefined) continue;
      const value = this.#values.get(key) ?? null;
      const kept = increments.filter((increment) => increment.seq > cut);
      this.#replace(key, value, { seq: Math.max(seq, forgotten), increments: kept });
    }
  }

  #forgetRemoved(): void {
    const removed = [...this.#times.keys()].filter((key) => !this.#values.has(key));
    if (removed.length <= REMOVED_MAX) return;
    removed.sort((one, other) => this.#changeOf(one).seq - this.#changeOf(other).seq);
    for (const key of removed.slice(0, -REMOVED_MAX)) this.#times.delete(key);
  }
}
