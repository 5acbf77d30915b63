// Thread task that parses and validates large identify calls: a few megabytes of JSON take up to
// half a second.
import type { EventLimits } from '../ingest/limits.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { type IdentifyCall, IdentifyRefusal, parseIdentifyBody, type RefusalReason } from './schema.js';

interface IdentifyRequest {
  readonly bytes: Uint8Array;
  readonly limits: EventLimits;
}

/** A rejection as plain data, because cloning an error between threads keeps only its message. */
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
