// A rejected event as a text for people to look at: its beginning, however large it is, and never a key of the service or the
// address of a client.
import { isObject } from './body.js';
import { ID_LENGTH_MAX } from './limits.js';

const BYTES_MAX = 2048;
/** Longer texts are cut. No id that events can have is, so that whoever is erased is found by the whole of theirs. */
const TEXT_LENGTH_MAX = 2 * ID_LENGTH_MAX;
/** What may be kept of an address is the project's policy, and only for events that are taken. */
const LEFT_OUT = 'ip';
const MORE = '…';

const KEY = /(?<![0-9A-Za-z])(pk|sk|ak|aat)_[0-9A-Za-z]{32}/g;

/** JSON up to where it is cut. No more of the event is looked at than is shown. */
export function toSample(event: unknown): string {
  const pieces: string[] = [];
  let bytes = 0;
  const isFull = (): boolean => bytes >= BYTES_MAX;
  const write = (piece: string): void => {
    pieces.push(piece);
    bytes += Buffer.byteLength(piece);
  };

  function spell(value: unknown): void {
    if (typeof value === 'string') write(JSON.stringify(shortened(value)));
    else if (Array.isArray(value)) spellList(value);
    else if (isObject(value)) spellFields(value);
    else write(String(value));
  }

  function spellList(items: readonly unknown[]): void {
    let before = '[';
    for (const item of items) {
      if (isFull()) return;
      write(before);
      spell(item);
      before = ',';
    }
    if (!isFull()) write(before === '[' ? '[]' : ']');
  }

  function spellFields(fields: Readonly<Record<string, unknown>>): void {
    let before = '{';
    for (const key in fields) {
      if (isFull()) return;
      if (key === LEFT_OUT) continue;
      write(`${before}${JSON.stringify(shortened(key))}:`);
      spell(fields[key]);
      before = ',';
    }
    if (!isFull()) write(before === '{' ? '{}' : '}');
  }

  spell(event);
  if (isFull()) write(MORE);
  return pieces.join('').replace(KEY, `$1_${MORE}`);
}

const shortened = (text: string): string =>
  text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}${MORE}` : text;

/** Whether the id stands anywhere in the sample, as a text or as a number. */
export const isNamedIn = (sample: string, id: string): boolean => sample.includes(JSON.stringify(id).slice(1, -1));
