// Insert ids of imported events. They depend on the record alone, so that a record that is imported
// twice counts once.
import { hash } from 'node:crypto';
import type { JsonObject } from '../platform/json-object.js';
import { setOwnProperty } from '../platform/own-property.js';
import { sha256 } from '../platform/sha256.js';
import { RepetitionCounter } from './repetition-counter.js';
import type { Id, Properties } from './source.js';

export class RecordIds {
  readonly #prefix: string;
  readonly #repetitions = new RepetitionCounter();

  /** `prefix` names the source, such as `mp`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** From the id that the source itself gave the event. */
  own(id: Id): string {
    return `${this.#prefix}:${id}`;
  }

  /** From all fields of a record: records that are equal in every field are one event. */
  ofContent(record: unknown): string {
    // The same as toIdText, without the two buffers.
    return this.own(hash('sha256', toCanonicalJson(record), 'base64url').slice(0, ID_CHARACTERS));
  }

  /** From all fields of a record and its number among equal ones of its file: each is an event. */
  ofOccurrence(record: unknown, file: object): string {
    const digest = digestOf(record);
    const repetition = this.#repetitions.next(digest, file);
    return this.own(repetition === 0 ? toIdText(digest) : `${toIdText(digest)}.${repetition}`);
  }
}

const digestOf = (record: unknown): Buffer => sha256(toCanonicalJson(record));

/** Characters of base64url: 132 bits. */
const ID_CHARACTERS = 22;

/** The beginning of the bytes in base64url. */
export const toIdText = (bytes: Buffer): string => bytes.toString('base64url').slice(0, ID_CHARACTERS);

/** JSON with sorted keys: exports order the fields of equal records differently. */
export const toCanonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value));

/** A copy, because a function that JSON.stringify calls for each value takes twice as long. */
function sortKeys(value: unknown): unknown {
  if (isSorted(value)) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Properties = {};
  for (const key of Object.keys(value as JsonObject).sort())
    setOwnProperty(sorted, key, sortKeys((value as JsonObject)[key]));
  return sorted;
}

/** Whether the keys of a value, and of all values in it, are in this order already: most are. */
function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let last = '';
  for (const key in value) {
    if (key < last || !isSorted((value as JsonObject)[key])) return false;
    last = key;
  }
  return true;
}
