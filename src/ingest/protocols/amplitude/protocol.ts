// Protocol of the Amplitude SDKs: where the key is, and the answers as theirs.
import { PublicError } from '../../../platform/errors.js';
import { isObject, textOf } from '../../../platform/json-object.js';
import type { Protocol } from '../protocol.js';
import { clockSkewMs } from '../values.js';
import { mapEvents } from './map.js';

export const amplitude: Protocol = {
  name: 'amplitude',
  paths: ['/2/httpapi', '/batch'],
  owns: (body) => isObject(body) && Array.isArray(body.events),

  findKey: (body) => (isObject(body) ? textOf(body.api_key) : undefined),

  translate(body, { now }, sink) {
    if (!isObject(body) || !Array.isArray(body.events)) {
      throw new PublicError('bad_request', 'the body must be an object with an array "events"');
    }
    mapEvents(body.events, { skewMs: clockSkewMs(body.client_upload_time, now) }, sink);
    return body.events.length;
  },

  answer: ({ accepted, bytes, now }) => ({
    code: 200,
    events_ingested: accepted,
    payload_size_bytes: bytes,
    server_upload_time: now,
  }),

  refuse: (status, error) => ({ code: status, error }),
};
