// Reader of JSON objects that are elements of one array, however they are wrapped into lines, in
// constant memory. Objects one after the other are read as well.
import { isObject, type JsonObject } from '../../platform/json-object.js';
import type { ReadRecord } from '../source.js';

const OBJECT_BYTES_MAX = 32 * 1024 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** White space, commas and a byte order mark. */
const BETWEEN_OBJECTS: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\r\n,\uFEFF'));

/**
 * `line` is the number of the object, from 1: such files often are one line. Text between objects
 * is named once. Rejects when the file ends within the array or an object.
 */
export async function* readJsonObjects(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const splitter = new ObjectSplitter();
  let line = 0;
  for await (const chunk of source) {
    for (const text of splitter.push(chunk)) {
      line += 1;
      yield { line, ...tryParse(text) };
    }
  }
  if (splitter.textAt !== undefined) {
    yield { line: splitter.textAt, problem: 'not JSON: text outside of the objects' };
  }
  if (splitter.isInObject) throw new Error(`object ${line + 1} is not complete`);
  if (splitter.isInArray) throw new Error(`the array is not closed after object ${line}`);
}

function tryParse(bytes: Buffer | undefined): { value: JsonObject } | { problem: string } {
  if (bytes === undefined) return { problem: `longer than ${OBJECT_BYTES_MAX} bytes` };
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? { value } : { problem: 'not a JSON object' };
  } catch {
    return { problem: 'not JSON' };
  }
}

/** States: between objects, or in one at a depth of braces, inside or outside of a string. */
class ObjectSplitter {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #openArrays = 0;
  #objects = 0;
  /**
   * The number of the object after the first text that is no array, such as an error's page or a
   * bracket too many.
   */
  textAt: number | undefined;

  get isInArray(): boolean {
    return this.#openArrays > 0;
  }

  get isInObject(): boolean {
    return this.#depth > 0;
  }

  /** The objects that end in this chunk; undefined for one above the limit. */
  *push(chunk: Buffer): Generator<Buffer | undefined> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE && this.#depth > 0) {
        this.#isInString = true;
      } else if (byte === OPEN_BRACE) {
        if (this.#depth === 0) start = at;
        this.#depth += 1;
      } else if (byte === CLOSE_BRACE && this.#depth > 0) {
        this.#depth -= 1;
        if (this.#depth === 0) yield this.#take(chunk.subarray(start, at + 1));
      } else if (this.#depth === 0) {
        if (byte === OPEN_BRACKET) this.#openArrays += 1;
        else if (byte === CLOSE_BRACKET && this.#openArrays > 0) this.#openArrays -= 1;
        else if (!BETWEEN_OBJECTS.has(byte)) this.textAt ??= this.#objects + 1;
      }
    }
    if (this.#depth > 0) this.#keep(chunk.subarray(start));
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= OBJECT_BYTES_MAX) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #take(last: Buffer): Buffer | undefined {
    this.#objects += 1;
    this.#keep(last);
    const taken = this.#bytes > OBJECT_BYTES_MAX ? undefined : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return taken;
  }
}
