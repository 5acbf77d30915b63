// Encoder for ClickHouse's Native format: columns are built row by row and written as one block.
// The engine parses Native several times faster than any text format. Layout: per block the number
// of columns and of rows (varuint); per column its name, type and data, as ClickHouse 26 reads
// them.
//
// Text is collected as "byte strings", in which each character is one byte of UTF-8. Appending to
// one growing string and writing it once as latin1 is about twice as fast as writing each text into
// a buffer.

/**
 * Converts text to a byte string: one character per UTF-8 byte. ASCII text is returned unchanged.
 */
export function toByteString(text: string): string {
  return NON_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}
const NON_ASCII = /[^\0-\x7f]/;

function varuint(value: number): string {
  let text = '';
  let rest = value;
  while (rest >= 0x80) {
    text += String.fromCharCode((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return text + String.fromCharCode(rest);
}

const LENGTHS_KEPT = 1024;
const LENGTH_PREFIXES: readonly string[] = Array.from({ length: LENGTHS_KEPT }, (_, length) => varuint(length));
const lengthPrefix = (length: number): string => LENGTH_PREFIXES[length] ?? varuint(length);

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

export interface Column {
  readonly type: string;
  /** The column's data for all rows added so far. */
  chunks(): Buffer[];
}

// A growing string is a tree of its parts. Flushing it while small keeps the tree in the young
// generation, so that the garbage collector never copies it.
const PENDING_TEXT_MAX = 4096;

export class StringColumn implements Column {
  readonly type = 'String';
  readonly #written: Buffer[] = [];
  #pending = '';

  /** Takes a byte string. */
  add(bytes: string): void {
    this.#pending += lengthPrefix(bytes.length) + bytes;
    if (this.#pending.length > PENDING_TEXT_MAX) {
      this.#written.push(latin1(this.#pending));
      this.#pending = '';
    }
  }

  chunks(): Buffer[] {
    return [...this.#written, latin1(this.#pending)];
  }
}

export class Float64Column implements Column {
  readonly type = 'Float64';
  readonly #values: number[] = [];

  add(value: number): void {
    this.#values.push(value);
  }

  chunks(): Buffer[] {
    return [Buffer.from(Float64Array.from(this.#values).buffer)];
  }
}

export class BoolColumn implements Column {
  readonly type = 'Bool';
  readonly #values: number[] = [];

  add(value: boolean): void {
    this.#values.push(value ? 1 : 0);
  }

  chunks(): Buffer[] {
    return [Buffer.from(this.#values)];
  }
}

/** Int64 of epoch milliseconds, or microseconds. */
export class DateTime64Column implements Column {
  readonly type: string;
  readonly #values: number[] = [];

  constructor(digits: 3 | 6 = 3) {
    this.type = `DateTime64(${digits}, 'UTC')`;
  }

  add(ticks: number): void {
    this.#values.push(ticks);
  }

  chunks(): Buffer[] {
    return [int64Buffer(this.#values)];
  }
}

/** Integers up to 2^53. */
export class UInt64Column implements Column {
  readonly type = 'UInt64';
  readonly #values: number[] = [];

  add(value: number): void {
    this.#values.push(value);
  }

  chunks(): Buffer[] {
    return [int64Buffer(this.#values)];
  }
}

/** Writes two 32-bit halves: BigInt64Array would allocate a BigInt per value. */
function int64Buffer(values: readonly number[]): Buffer {
  const halves = new Int32Array(values.length * 2);
  let at = 0;
  for (const value of values) {
    const high = Math.floor(value / 0x1_0000_0000);
    halves[at++] = value - high * 0x1_0000_0000;
    halves[at++] = high;
  }
  return Buffer.from(halves.buffer);
}

/** Caches the last UUID, because rows of one project arrive together. */
export class UuidColumn implements Column {
  readonly type = 'UUID';
  readonly #runs: { uuid: string; rows: number }[] = [];

  add(uuid: string): void {
    const last = this.#runs.at(-1);
    if (last?.uuid === uuid) last.rows += 1;
    else this.#runs.push({ uuid, rows: 1 });
  }

  chunks(): Buffer[] {
    return this.#runs.map(({ uuid, rows }) => {
      const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
      // Each half of eight bytes is a little-endian number.
      bytes.subarray(0, 8).reverse();
      bytes.subarray(8, 16).reverse();
      return Buffer.alloc(rows * 16, bytes);
    });
  }
}

const LOW_CARDINALITY_VERSION = uint64(1);
// Flags of an index block: the dictionary is written with the block (0x600), and the width of its
// indexes (low byte).
const DICTIONARY_FLAGS = 0x600;

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value % 0x1_0000_0000, 0);
  bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), 4);
  return bytes;
}

/** Takes plain text, not byte strings: only the few distinct values are converted. */
export class LowCardinalityColumn implements Column {
  readonly type = 'LowCardinality(String)';
  readonly #dictionary = new Map<string, number>();
  readonly #indexes: number[] = [];
  #dictionaryText = '';
  #lastValue: string | undefined;
  #lastIndex = 0;

  /** Returns the index of the value in the dictionary. */
  add(value: string): number {
    if (value !== this.#lastValue) {
      this.#lastIndex = this.#dictionary.get(value) ?? this.#remember(value);
      this.#lastValue = value;
    }
    this.#indexes.push(this.#lastIndex);
    return this.#lastIndex;
  }

  /** Distinct values by index. */
  values(): Iterable<string> {
    return this.#dictionary.keys();
  }

  #remember(value: string): number {
    const index = this.#dictionary.size;
    const bytes = toByteString(value);
    this.#dictionary.set(value, index);
    this.#dictionaryText += lengthPrefix(bytes.length) + bytes;
    return index;
  }

  /**
   * Serialization version, written once before the data; inside a map or array, before the offsets.
   */
  prefix(): Buffer[] {
    return [LOW_CARDINALITY_VERSION];
  }

  body(): Buffer[] {
    if (this.#indexes.length === 0) return [];
    const size = this.#dictionary.size;
    const width = size <= 0x100 ? 0 : size <= 0x1_0000 ? 1 : 2;
    const Indexes = [Uint8Array, Uint16Array, Uint32Array][width] ?? Uint32Array;
    return [
      uint64(DICTIONARY_FLAGS | width),
      uint64(size),
      latin1(this.#dictionaryText),
      uint64(this.#indexes.length),
      Buffer.from(Indexes.from(this.#indexes).buffer),
    ];
  }

  chunks(): Buffer[] {
    return [...this.prefix(), ...this.body()];
  }
}

/** Where the entries of each row end. Most maps and arrays of a block have no entries at all. */
class Offsets {
  #rowsBeforeFirst = 0;
  readonly #ends: number[] = [];
  #entries = 0;

  addEntry(): void {
    this.#entries += 1;
  }

  endRow(): void {
    if (this.#entries === 0) this.#rowsBeforeFirst += 1;
    else this.#ends.push(this.#entries);
  }

  chunks(): Buffer[] {
    return [Buffer.alloc(8 * this.#rowsBeforeFirst), int64Buffer(this.#ends)];
  }
}

/** Map(LowCardinality(String), V): call `add` on keys and values, then `endRow` once per row. */
export class MapColumn<V extends Column> implements Column {
  readonly type: string;
  readonly keys = new LowCardinalityColumn();
  readonly values: V;
  readonly #offsets = new Offsets();

  constructor(values: V) {
    this.values = values;
    this.type = `Map(LowCardinality(String), ${values.type})`;
  }

  /**
   * Afterwards the caller adds the value to `values`. Returns the index of the key in its
   * dictionary.
   */
  addKey(key: string): number {
    this.#offsets.addEntry();
    return this.keys.add(key);
  }

  endRow(): void {
    this.#offsets.endRow();
  }

  chunks(): Buffer[] {
    return [...this.keys.prefix(), ...this.#offsets.chunks(), ...this.keys.body(), ...this.values.chunks()];
  }
}

export class LowCardinalityArrayColumn implements Column {
  readonly type = 'Array(LowCardinality(String))';
  readonly #items = new LowCardinalityColumn();
  readonly #offsets = new Offsets();

  /** Returns the index of the value in the dictionary. */
  addItem(value: string): number {
    this.#offsets.addEntry();
    return this.#items.add(value);
  }

  endRow(): void {
    this.#offsets.endRow();
  }

  chunks(): Buffer[] {
    return [...this.#items.prefix(), ...this.#offsets.chunks(), ...this.#items.body()];
  }
}

/** Encodes one block. Every column must have exactly `rows` rows. */
export function encodeBlock(columns: readonly (readonly [name: string, column: Column])[], rows: number): Buffer {
  const chunks = [latin1(varuint(columns.length) + varuint(rows))];
  for (const [name, column] of columns) {
    chunks.push(latin1(lengthPrefix(name.length) + name + lengthPrefix(column.type.length) + column.type));
    chunks.push(...column.chunks());
  }
  return Buffer.concat(chunks);
}
