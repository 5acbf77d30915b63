// Parses the message of an agent within a limit of what it holds. The SDK checks each key of a
// message several times: 60,000 keys in a body of 512 KiB block the event loop for 300 ms, a long
// text in such a body for 3 ms. So values are counted in the bytes, before they are parsed. The
// address of a resource is parsed as a URL several times, and unknown names are sent back: half a
// million characters block the event loop for 15 to 92 ms, so these have a limit of their own.
import { PublicError } from '../../platform/errors.js';
import { jsonText } from '../../platform/json-text.js';

/** Far above any message of a client, which has some dozen. */
export const MESSAGE_VALUES_MAX = 2_000;

/** Of the id of a message and of the name or address in it. */
const MESSAGE_NAME_LENGTH_MAX = 2_000;

const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [...'"\\,:[{'].map((sign) => sign.charCodeAt(0));

/** Keys, items, objects and lists of a JSON text in UTF-8, up to the limit and one. */
export function countValues(json: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < json.length && count <= MESSAGE_VALUES_MAX; index++) {
    const byte = json[index];
    if (byte === QUOTE) index = endOfText(json, index);
    else if (byte === COMMA || byte === COLON || byte === BRACKET || byte === BRACE) count += 1;
  }
  return count;
}

/** The closing quote of the text that begins at `start`. */
function endOfText(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}

/** Throws a bad request for what is no message, and for a batch. */
export function parseMessage(json: Buffer): unknown {
  if (countValues(json) > MESSAGE_VALUES_MAX) {
    throw new PublicError('bad_request', `the message has more than ${MESSAGE_VALUES_MAX} keys and values`);
  }
  const message = parseJson(json);
  // The rate limit counts requests, and a batch would hold many.
  if (Array.isArray(message)) throw new PublicError('bad_request', 'send one message, not a batch');
  refuseLongNames(message as Named | null);
  return message;
}

/** What the SDK has not checked yet: any JSON value. */
interface Named {
  readonly id?: unknown;
  readonly params?: { readonly name?: unknown; readonly uri?: unknown } | null;
}

function refuseLongNames(message: Named | null): void {
  const names = { id: message?.id, name: message?.params?.name, uri: message?.params?.uri };
  for (const [field, value] of Object.entries(names)) {
    if (typeof value !== 'string' || value.length <= MESSAGE_NAME_LENGTH_MAX) continue;
    throw new PublicError(
      'bad_request',
      `"${field}" of the message has ${value.length} characters, and the limit is ${MESSAGE_NAME_LENGTH_MAX}`,
    );
  }
}

function parseJson(json: Buffer): unknown {
  try {
    return JSON.parse(jsonText(json));
  } catch (cause) {
    throw new PublicError('bad_request', 'the request body is not valid JSON', { cause });
  }
}
