// Drop rules of a project as they are stored: plain data, so that PostgreSQL, threads and processes
// without the query language can hold them. They are written in the definitions
// (src/definitions/drop-rules.ts) and come with the lookup of a key.
import type { Condition } from '../../query/analyze/resolved.js';

/** An event is dropped when it has the event type, or meets the condition. */
export interface DropRule {
  /** Stays the same while the rule has the same text; its counts are stored under it. */
  readonly key: string;
  readonly event?: string;
  readonly condition?: Condition;
}

export interface IngestRules {
  /** Version of the definitions. */
  readonly version: number;
  /** Whether events of bots are dropped. */
  readonly dropsBots: boolean;
  readonly rules: readonly DropRule[];
}

/** Counted like a rule. */
export const BOTS_KEY = 'bots';

/**
 * In conditions of rules, the field `ip` is the whole address of the client, whatever the project
 * stores of it, and its values are addresses and networks. `_ip` is what is stored.
 */
export const ADDRESS_FIELD = 'ip';

/** How many events each rule has dropped, by its key. */
export type Dropped = ReadonlyMap<string, number>;
