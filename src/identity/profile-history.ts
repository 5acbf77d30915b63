// A profile as the outcome of its operations in the order of their numbers, in whatever order they arrive. What nothing can
// precede any more is folded into the checkpoint; the operations after it are the tail.
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
  /** Undefined while no operation is in it. */
  readonly checkpoint: ProfileState | undefined;
  /** Every operation up to this number is in the checkpoint. */
  readonly checkpointSeq: number;
  /** Ascending. */
  readonly tail: readonly ProfileOperation[];
}

/** Numbers are microseconds. */
const MICROSECONDS_PER_MS = 1000;
/** The moment of acceptance, in milliseconds. */
export const timeOf = (seq: number): number => Math.floor(seq / MICROSECONDS_PER_MS);

/** What arrived, each once however often it arrives. Nothing that is not in it has a number below `watermark`. */
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

/** Undefined for a history without any operation. */
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
