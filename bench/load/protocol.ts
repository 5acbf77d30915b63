// Messages between benchmark and load process.
import type { ProtocolName } from './sdk-bodies.js';

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly eventsPerRequest: number;
  readonly connections: number;
  /**
   * Number of distinct bodies; more than connections, because a body is rewritten before each use.
   */
  readonly bodies: number;
  /** By default `track`. */
  readonly protocol?: ProtocolName;
  readonly hasOneId?: boolean;
  /** Page views, with the properties that a page sends. */
  readonly arePageViews?: boolean;
}

export interface RunLimits {
  readonly durationMs: number;
  readonly eventsMax: number;
}

export type LoadCommand =
  | { readonly kind: 'prepare'; readonly options: LoadOptions }
  | { readonly kind: 'run'; readonly limits: RunLimits }
  /** Total number of events that may be sent; bounds the backlog. */
  | { readonly kind: 'allow'; readonly events: number };

export interface LoadSummary {
  readonly accepted: number;
  /** Responses by status, without 200; broken connections count as 0. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
  /** 99th percentile of the time of an answer. */
  readonly answerP99Ms: number;
  readonly bytesPerEvent: number;
}

export type LoadReport = { readonly kind: 'prepared' } | { readonly kind: 'done'; readonly summary: LoadSummary };
