// Folds a profile from its operations in sequence order, independent of their order of arrival.
// Operations below the low watermark are folded into the checkpoint (snapshot); later ones are kept
// in the tail (pending operations).
import type { Properties, PropertyOps } from './property-ops.js';
import { type PropertyTimes, TimedProperties } from './timed-properties.js';

export interface ProfileState {
  readonly properties: Properties;
  /** When properties changed. Those from before November 2026 are missing. */
  readonly times: PropertyTimes;
  /** Milliseconds. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

export interface ProfileOperation {
  readonly seq: number;
  readonly ops: PropertyOps;
}

export interface ProfileHistory {
  /** Undefined while it contains no operation. */
  readonly checkpoint: ProfileState | undefined;
  /** The checkpoint contains every operation up to this sequence number. */
  readonly checkpointSeq: number;
  /** Ascending. */
  readonly tail: readonly ProfileOperation[];
}

/** Sequence numbers are microseconds. */
export const MICROSECONDS_PER_MS = 1000;
/** The time of imported records that have none. */
export const UNKNOWN_TIME_MS = Date.UTC(2000, 0, 1);
/** Time of acceptance, epoch milliseconds. */
export const timeOf = (seq: number): number => Math.floor(seq / MICROSECONDS_PER_MS);

/** Adds operations (idempotent). No operation below `watermark` may arrive later. */
export function extendHistory(
  history: ProfileHistory,
  arrived: readonly ProfileOperation[],
  watermark: number,
): ProfileHistory {
  const bySeq = new Map(history.tail.map((operation) => [operation.seq, operation]));
  for (const operation of arrived) if (operation.seq > history.checkpointSeq) bySeq.set(operation.seq, operation);
  const pending = [...bySeq.values()].sort((one, other) => one.seq - other.seq);
  const settled = pending.filter(({ seq }) => seq < watermark);
  return {
    checkpoint: fold(history.checkpoint, settled),
    checkpointSeq: settled.at(-1)?.seq ?? history.checkpointSeq,
    tail: pending.slice(settled.length),
  };
}

/** Undefined for a history without operations. */
export const currentState = ({ checkpoint, tail }: ProfileHistory): ProfileState | undefined => fold(checkpoint, tail);

/**
 * Adds operations of imports, whose numbers are the times of their records, in any order
 * (idempotent). They need no place in the tail, because times of properties order them.
 */
export function importIntoHistory(history: ProfileHistory, imported: readonly ProfileOperation[]): ProfileHistory {
  if (imported.length === 0) return history;
  const properties = readState(history.checkpoint);
  for (const { seq, ops } of imported) properties.applyImported(seq, ops.set ?? {});
  return { ...history, checkpoint: toState(properties, history.checkpoint, imported) };
}

function fold(state: ProfileState | undefined, operations: readonly ProfileOperation[]): ProfileState | undefined {
  if (operations.length === 0) return state;
  const properties = readState(state);
  for (const { seq, ops } of operations) properties.apply(seq, ops);
  return toState(properties, state, operations);
}

const readState = (state: ProfileState | undefined): TimedProperties =>
  new TimedProperties(
    state?.properties ?? {},
    state?.times ?? {},
    ((state?.lastSeen ?? 0) + 1) * MICROSECONDS_PER_MS - 1,
  );

function toState(
  timed: TimedProperties,
  before: ProfileState | undefined,
  operations: readonly ProfileOperation[],
): ProfileState {
  const seen = operations.map(({ seq }) => timeOf(seq));
  if (before !== undefined) seen.push(before.firstSeen, before.lastSeen);
  const known = seen.filter((timeMs) => timeMs > UNKNOWN_TIME_MS);
  const firstSeen = (known.length > 0 ? known : seen).reduce((one, other) => Math.min(one, other));
  const { properties } = timed;
  const times = timed.toTimes();
  return { properties, times, firstSeen, lastSeen: seen.reduce((one, other) => Math.max(one, other)) };
}
