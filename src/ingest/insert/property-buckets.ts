// Property map: stores property values in typed columns, one map each for texts, numbers and
// booleans, and a list of the keys that are null. Events and profiles share this layout.
import {
  BoolColumn,
  Float64Column,
  LowCardinalityArrayColumn,
  MapColumn,
  StringColumn,
} from '../../../packages/clickhouse-native/native.js';
import { tryParseNumberText } from '../../platform/number-text.js';
import type { RawEvent } from '../body.js';
import { textOf } from '../schema.js';

/** Converts text to the byte string that a column takes. */
export type ToBytes = (value: string) => string;

/** Takes each key with its index in the dictionary of its column. */
export interface PropertyVisitor {
  addText(index: number, key: string, text: string): void;
  add(type: 'number' | 'boolean' | 'null', index: number, key: string): void;
}

/** Columns of one block; `add` appends a row. */
export class PropertyBuckets {
  readonly strings = new MapColumn(new StringColumn());
  readonly numbers = new MapColumn(new Float64Column());
  readonly booleans = new MapColumn(new BoolColumn());
  readonly nulls = new LowCardinalityArrayColumn();

  add(properties: RawEvent, toBytes: ToBytes, visitor: PropertyVisitor): void {
    for (const key in properties) this.#addProperty(key, properties[key], toBytes, visitor);
    this.strings.endRow();
    this.numbers.endRow();
    this.booleans.endRow();
    this.nulls.endRow();
  }

  /** Negative zero is stored as 0, of which it would be another group. */
  #addNumber(number: number): void {
    this.numbers.values.add(number + 0);
  }

  #addProperty(key: string, value: unknown, toBytes: ToBytes, visitor: PropertyVisitor): void {
    if (value === null) {
      visitor.add('null', this.nulls.addItem(key), key);
    } else if (typeof value === 'boolean') {
      visitor.add('boolean', this.booleans.addKey(key), key);
      this.booleans.values.add(value);
    } else if (typeof value === 'number' && Number.isFinite(value)) {
      visitor.add('number', this.numbers.addKey(key), key);
      this.#addNumber(value);
    } else {
      // A JSON number such as 1e999 parses to Infinity; it is stored as text, so that no sum
      // includes it.
      const held = textOf(value) ?? String(value);
      visitor.addText(this.strings.addKey(key), key, held);
      this.strings.values.add(toBytes(held));
      const number = tryParseNumberText(held);
      if (number !== undefined) {
        this.numbers.addKey(key);
        this.#addNumber(number);
      }
    }
  }
}
