// JSON answers of queries, and the names of a project that are read from them.
import type { Definitions } from '../../../src/query/definitions/definitions.js';

export type Cell = null | string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, Cell>>;

export interface Answer {
  /** The question. */
  readonly q?: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly total: number;
  readonly elapsed_ms: number;
  readonly rows_scanned: number;
  /** Two instants, joined with `/`. */
  readonly period: string;
  readonly mode: string;
  readonly metadata: {
    readonly truncated?: true;
    readonly warnings?: readonly string[];
    readonly funnel_steps?: readonly string[];
    /** Of funnels, paths and retention, also by default. */
    readonly window_seconds?: number;
    /** Of the periods of retention without a window: `week`. */
    readonly granularity?: string;
    /** Set by `compare`: rows have columns of the earlier range, too. */
    readonly compare?: unknown;
    /** Buckets that the range covers only in part, by the column of their times. */
    readonly partial?: readonly Row[];
    /** Rows whose time is not over, by the columns that name a row. */
    readonly incomplete?: readonly Row[];
    /** The first bucket whose attempts are not over. */
    readonly incomplete_from?: string;
    /** Of the groups of `bucket(…)`. */
    readonly bucket_width?: number;
    /** Annotations in the range. `time` is the instant, or the beginning of the day. */
    readonly annotations?: readonly { readonly at: string; readonly time: string; readonly text: string }[];
  };
  readonly [more: string]: unknown;
}

export interface Name {
  readonly name: string;
  /** Shown beside it: how many events, or the type. */
  readonly detail: string;
}

export interface Names {
  readonly events: readonly Name[];
  /** Properties of events and profiles, with unquoted keys. */
  readonly fields: readonly Name[];
  /** The most frequent texts, by field. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** What the project has defined. */
  readonly definitions: Definitions;
}
