// Folds a profile from its operations in sequence order, independent of their order of arrival.
// Operations below the low watermark are folded into the checkpoint (snapshot); later ones are kept
// in the tail (pending operations).
import { ProfileProperties } from './profile-properties.js';
import { applyPropertyOps, type Properties, type PropertyOps } from './property-ops.js';

export interface ProfileState {
  readonly properties: Properties;
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
const MICROSECONDS_PER_MS = 1000;
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

function fold(state: ProfileState | undefined, operations: readonly ProfileOperation[]): ProfileState | undefined {
  const first = operations[0];
  const last = operations.at(-1);
  if (first === undefined || last === undefined) return state;
  const properties = new ProfileProperties(state?.properties);
  for (const { ops } of operations) applyPropertyOps(properties, ops);
  return {
    properties: Object.fromEntries(properties),
    firstSeen: state?.firstSeen ?? timeOf(first.seq),
    lastSeen: timeOf(last.seq),
  };
}
