// Property values in typed buckets: one map for texts, one for numbers, one for booleans. Events and profiles are stored so.
import {
  BoolColumn,
  Float64Column,
  LowCardinalityArrayColumn,
  MapColumn,
  StringColumn,
} from '../../packages/clickhouse-native/native.js';
import { tryParseNumberText } from '../platform/number-text.js';
import type { RawEvent } from './body.js';
import { textOf } from './schema.js';

/** Turns text into the byte string that a column takes. */
export type ToBytes = (value: string) => string;

/** A row is added by `add`; the columns are those of the block that they are written in. */
export class PropertyBuckets {
  readonly strings = new MapColumn(new StringColumn());
  readonly numbers = new MapColumn(new Float64Column());
  readonly booleans = new MapColumn(new BoolColumn());
  readonly nulls = new LowCardinalityArrayColumn();

  add(properties: RawEvent, toBytes: ToBytes): void {
    for (const key in properties) this.#addProperty(key, properties[key], toBytes);
    this.strings.endRow();
    this.numbers.endRow();
    this.booleans.endRow();
    this.nulls.endRow();
  }

  #addProperty(key: string, value: unknown, toBytes: ToBytes): void {
    if (value === null) {
      this.nulls.addItem(key);
    } else if (typeof value === 'boolean') {
      this.booleans.addKey(key);
      this.booleans.values.add(value);
    } else if (typeof value === 'number' && Number.isFinite(value)) {
      this.numbers.addKey(key);
      this.numbers.values.add(value);
    } else {
      // A JSON number such as 1e999 is read as Infinity, which no sum should meet: it is kept as text.
      const held = textOf(value) ?? String(value);
      this.strings.addKey(key);
      this.strings.values.add(toBytes(held));
      const number = tryParseNumberText(held);
      if (number !== undefined) {
        this.numbers.addKey(key);
        this.numbers.values.add(number);
      }
    }
  }
}
