// What the bench and the load process say to each other.

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly eventsPerRequest: number;
  readonly connections: number;
  /** Distinct bodies; more than connections, as a body is rewritten before each use. */
  readonly bodies: number;
}

export interface RunLimits {
  readonly durationMs: number;
  readonly eventsMax: number;
}

export type LoadCommand =
  | { readonly kind: 'prepare'; readonly options: LoadOptions }
  | { readonly kind: 'run'; readonly limits: RunLimits }
  /** How many events may be sent in all: keeps what is accepted and not yet stored within bounds. */
  | { readonly kind: 'allow'; readonly events: number };

export interface LoadSummary {
  readonly requests: number;
  readonly accepted: number;
  /** Answers by status, 200 left out; connections that broke count as 0. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
  readonly answerMs: { readonly p50: number; readonly p95: number; readonly p99: number };
  readonly bytesPerEvent: number;
}

export type LoadReport =
  | { readonly kind: 'prepared' }
  | { readonly kind: 'progress'; readonly accepted: number }
  | { readonly kind: 'done'; readonly summary: LoadSummary };
