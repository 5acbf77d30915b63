// Translates a body of another protocol into events and identify calls. It runs in the event loop
// or in a thread (decide.ts), and depends on nothing but its arguments.
import type { IdentifyCall } from '../../identity/schema.js';
import { parseJson, type RawEvent } from '../body.js';
import { isStorable } from '../event-time.js';
import type { EventLimits } from '../limits.js';
import { isValueWithinBytes, isValueWithinDepth } from '../schema.js';
import type { AboutChange, Head, SkippedCall } from './protocol.js';
import { readProfile } from './read-profile.js';
import { protocolNamed } from './table.js';

/** A body as received, with the protocol that can read it. */
export interface ForeignBody {
  /** Name of the protocol. */
  readonly protocol: string;
  /** Last segment of the path. */
  readonly call: string;
  readonly head?: Head;
  /** The parsed body, when it was parsed already. */
  readonly parsed?: unknown;
}

export interface ProfileChange extends AboutChange {
  readonly call: IdentifyCall;
}

/** What a body holds beside its events. */
export interface Translated {
  readonly calls: readonly ProfileChange[];
  /** Times that were computed from the moment of the delivery: position to milliseconds. */
  readonly times: ReadonlyMap<number, number>;
  readonly skipped: ReadonlyMap<SkippedCall, number>;
}

/** Throws bad_request for bytes that are no body of the protocol. */
export function translate(
  { protocol: name, call, head, parsed }: ForeignBody,
  { bytes, now }: { readonly bytes: Buffer; readonly now: number },
  limits: EventLimits,
): Translated & { readonly events: readonly RawEvent[]; readonly records: number } {
  const protocol = protocolNamed(name);
  const events: RawEvent[] = [];
  const calls: ProfileChange[] = [];
  const times = new Map<number, number>();
  const skipped = new Map<SkippedCall, number>();
  const skip = (reason: SkippedCall) => void skipped.set(reason, 1 + (skipped.get(reason) ?? 0));
  const records = protocol.translate(
    parsed ?? parseForeign(name, bytes),
    { call, now, ...(head !== undefined && { head }) },
    {
      event(event, timeMs) {
        // A wrong clock may give any time.
        if (timeMs !== undefined) times.set(events.length, isStorable(timeMs, now) ? Math.trunc(timeMs) : now);
        events.push(event);
      },
      identify(body, about) {
        const read = readProfile(body, limits, skip);
        if (read !== undefined) calls.push({ call: read, ...about });
      },
      skip,
      isWithinLimit: (value) => isValueWithinDepth(value) && isValueWithinBytes(value, limits.valueBytesMax),
    },
  );
  return { events, records, calls, times, skipped };
}

/** Throws bad_request for bytes that cannot be parsed. */
export function parseForeign(name: string, bytes: Buffer): unknown {
  const { parse } = protocolNamed(name);
  return parse === undefined ? parseJson(bytes) : parse(bytes);
}
