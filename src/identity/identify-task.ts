// Thread tasks that parse and validate large identify calls and batches of calls: a few megabytes
// of JSON take up to half a second.
import type { EventLimits } from '../ingest/limits.js';
import { writeList } from '../platform/threads/list-texts.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import {
  type IdentifyCall,
  IdentifyRefusal,
  parseIdentifyBatch,
  parseIdentifyBody,
  type RefusalReason,
} from './schema.js';

interface IdentifyRequest {
  readonly bytes: Uint8Array;
  readonly limits: EventLimits;
}

/** A rejection as plain data, because cloning an error between threads keeps only its message. */
type Refused = { readonly reason: RefusalReason; readonly message: string };

export const identifyTask: ThreadTask<IdentifyRequest, { readonly call: IdentifyCall } | Refused> = {
  module: import.meta.url,
  name: 'identifyTask',
  run: ({ bytes, limits }) => orRefused(() => ({ call: parseIdentifyBody(toBuffer(bytes), limits) })),
  tooCostly: 'the call takes more than {limit} to read; send fewer properties',
};

/** Answers texts of `TimedCall`s (list-texts.ts). */
export const identifyBatchTask: ThreadTask<
  IdentifyRequest & { readonly nowMs: number },
  { readonly callTexts: readonly string[] } | Refused
> = {
  module: import.meta.url,
  name: 'identifyBatchTask',
  run: ({ bytes, limits, nowMs }) =>
    orRefused(() => ({ callTexts: writeList(parseIdentifyBatch(toBuffer(bytes), limits, nowMs)) })),
  tooCostly: 'the batch takes more than {limit} to read; send fewer calls',
};

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function orRefused<T>(parse: () => T): T | Refused {
  try {
    return parse();
  } catch (error) {
    if (error instanceof IdentifyRefusal) return { reason: error.reason, message: error.message };
    throw error;
  }
}
