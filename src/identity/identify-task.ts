// The edge's decision about a large identify call, in a thread: what JSON can say in a few megabytes takes up to half a second to
// parse.
import type { EventLimits } from '../ingest/limits.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type IdentifyCall, IdentifyRefusal, parseIdentifyBody, type RefusalReason } from './schema.js';

interface IdentifyRequest {
  readonly bytes: Uint8Array;
  readonly limits: EventLimits;
}

/** A refusal as plain data: threads keep of an error no more than its message. */
type IdentifyAnswer = { readonly call: IdentifyCall } | { readonly reason: RefusalReason; readonly message: string };

export const identifyTask: ThreadTask<IdentifyRequest, IdentifyAnswer> = {
  module: import.meta.url,
  name: 'identifyTask',
  run: ({ bytes, limits }) => {
    try {
      return { call: parseIdentifyBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), limits) };
    } catch (error) {
      if (error instanceof IdentifyRefusal) return { reason: error.reason, message: error.message };
      throw error;
    }
  },
  tooCostly: 'the call takes more than {limit} to read; send fewer properties',
};
