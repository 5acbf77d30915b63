// Thread tasks that parse and validate large identify calls and batches of calls: a few megabytes
// of JSON take up to half a second.
import type { EventLimits } from '../ingest/limits.js';
import { writeList } from '../platform/threads/list-texts.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import {
  IdentifyRefusal,
  type ParsedBatch,
  type ParsedCall,
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

export const identifyTask: ThreadTask<IdentifyRequest, ParsedCall | Refused> = {
  module: import.meta.url,
  name: 'identifyTask',
  run: ({ bytes, limits }) => orRefused(() => parseIdentifyBody(toBuffer(bytes), limits)),
  tooCostly: 'the call takes more than {limit} to read; send fewer properties',
};

/** Calls leave as texts (list-texts.ts). */
type BatchTexts = Omit<ParsedBatch, 'calls'> & { readonly callTexts: readonly string[] };

export const identifyBatchTask: ThreadTask<IdentifyRequest & { readonly nowMs: number }, BatchTexts | Refused> = {
  module: import.meta.url,
  name: 'identifyBatchTask',
  run: ({ bytes, limits, nowMs }) =>
    orRefused(() => {
      const { calls, ...rest } = parseIdentifyBatch(toBuffer(bytes), limits, nowMs);
      return { ...rest, callTexts: writeList(calls) };
    }),
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
