// What a protocol of another product's SDKs is: its routes, where its key is, and how its calls
// become events and identify calls of this service. One folder each; table.ts lists them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Router } from 'express';
import type { RawEvent } from '../body.js';

/** What the answer to an accepted request counts. */
export interface Counts {
  /** Records that were accepted, as events or as changes of profiles alone. */
  readonly accepted: number;
  /** Size of the body after decompression, bytes. */
  readonly bytes: number;
  readonly now: number;
}

/** What a protocol says of a change of a profile. */
export interface AboutChange {
  /** Names a change that must not be applied twice, such as an addition. */
  readonly onceId?: string;
  /** Its record counts as accepted by another call or event. */
  readonly isExtra?: true;
}

/** Collects what the calls of one request become. */
export interface Sink {
  /**
   * An event as of /track. `timeMs` is a time that was computed from the moment of the delivery:
   * the event then has none of its own, and a repeated delivery keeps the first.
   */
  event(event: RawEvent, timeMs?: number): void;
  /** The body of an /identify call. */
  identify(call: RawEvent, about?: AboutChange): void;
  /** A call that has no equal here. The reason is a label of a metric, so of a closed list. */
  skip(reason: SkippedCall): void;
  /** Whether a property may have the value. An event with a longer one is skipped as a whole. */
  isWithinLimit(value: unknown): boolean;
}

const SKIPPED_CALLS = [
  'call_unknown',
  'event_name_missing',
  'profile_without_user',
  'profile_not_valid',
  'group_profile',
  'operator_unknown',
  'recording',
  'log',
  'metric',
  'trace',
  'value_too_long',
  'session_marker',
] as const;
export type SkippedCall = (typeof SKIPPED_CALLS)[number];

/** What the head of a request says of all its events. */
export interface Head {
  readonly library?: string;
  /** When the request was sent, by the clock of the sender. */
  readonly sentAt?: string;
}

export interface Protocol {
  readonly name: string;
  /** Paths that take calls, in express notation. A path may be shared (`owns`). */
  readonly paths: readonly string[];
  /** Values of the parameter `call` of the paths; others answer 404. */
  readonly calls?: readonly string[];
  /** Mounts what the SDKs ask for beside sending: settings, and calls that are dropped. */
  mountOthers?(router: Router, skip: (reason: SkippedCall) => void): void;
  /** The key in the head of a request. */
  findHeadKey?(headers: IncomingHttpHeaders): string | undefined;
  /** `url`: path and query. */
  readHead?(headers: IncomingHttpHeaders, url: string): Head;
  /** Parses the bytes of a body. Throws bad_request. By default they are JSON. */
  parse?(bytes: Buffer): unknown;
  /** The key in a parsed body. */
  findKey(body: unknown): string | undefined;
  /** Whether a body of a shared path is one of this protocol. */
  owns?(body: unknown): boolean;
  /**
   * Returns how many records the body has, each of which becomes a few calls at most. Throws
   * bad_request when it has none. `call` is the last segment of the path.
   */
  translate(
    body: unknown,
    request: { readonly call: string; readonly now: number; readonly head?: Head },
    sink: Sink,
  ): number;
  /** The answer to an accepted request. */
  answer(counts: Counts, call: string): unknown;
  /** In place of 429, when its SDKs drop events after that. */
  readonly busyStatus?: number;
  /** The body of an error; `{error}` by default. */
  refuse?(status: number, error: string): unknown;
}
