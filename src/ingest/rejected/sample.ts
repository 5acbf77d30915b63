// Formats a rejected event as a bounded text sample: the beginning of its JSON, without API keys
// and without the client's address.
import { isObject } from '../../platform/json-object.js';
import { ID_LENGTH_MAX } from '../limits.js';

const BYTES_MAX = 2048;
/**
 * Longer texts are truncated. Valid ids are never truncated, so that an erasure finds every sample
 * that contains one.
 */
const TEXT_LENGTH_MAX = 2 * ID_LENGTH_MAX;
/** Not included: the address policy of the project covers accepted events only. */
const OMITTED_FIELD = 'ip';
const MORE = '…';

const KEY = /(?<![0-9A-Za-z])(pk|sk|ak|aat)_[0-9A-Za-z]{32}/g;

/** JSON, truncated at the limit. The rest of the event is not read. */
export function toSample(event: unknown): string {
  const pieces: string[] = [];
  let bytes = 0;
  const isFull = (): boolean => bytes >= BYTES_MAX;
  const write = (piece: string): void => {
    pieces.push(piece);
    bytes += Buffer.byteLength(piece);
  };

  function writeValue(value: unknown): void {
    if (typeof value === 'string') write(JSON.stringify(shortened(value)));
    else if (Array.isArray(value)) writeList(value);
    else if (isObject(value)) writeFields(value);
    else write(String(value));
  }

  function writeList(items: readonly unknown[]): void {
    let before = '[';
    for (const item of items) {
      if (isFull()) return;
      write(before);
      writeValue(item);
      before = ',';
    }
    if (!isFull()) write(before === '[' ? '[]' : ']');
  }

  function writeFields(fields: Readonly<Record<string, unknown>>): void {
    let before = '{';
    for (const key in fields) {
      if (isFull()) return;
      if (key === OMITTED_FIELD) continue;
      write(`${before}${JSON.stringify(shortened(key))}:`);
      writeValue(fields[key]);
      before = ',';
    }
    if (!isFull()) write(before === '{' ? '{}' : '}');
  }

  writeValue(event);
  if (isFull()) write(MORE);
  return pieces.join('').replace(KEY, `$1_${MORE}`);
}

const shortened = (text: string): string =>
  text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}${MORE}` : text;

/** Whether the sample contains the id, as a text or as a number. */
export const isNamedIn = (sample: string, id: string): boolean => sample.includes(JSON.stringify(id).slice(1, -1));
