// Progress of an import: records, bytes, identities and what is left, in one line.
import { formatCount, formatRemaining, type ProgressDisplay, toCells } from '../platform/progress.js';

export interface ProgressState {
  /** Records that were read. */
  readonly read: number;
  readonly skipped: number;
  /** Identity links and profiles that were sent, after all records. */
  readonly identities: number;
  readonly bytesRead: number;
  /** Undefined when the size of the input is unknown. */
  readonly bytesTotal: number | undefined;
  readonly elapsedMs: number;
}

export function showProgress(display: ProgressDisplay, state: ProgressState): void {
  display.show(state.elapsedMs, { toBar: () => toBar(state), toStatus: () => toStatus(state) });
}

export function toBar(state: ProgressState): string {
  const share = toShare(state);
  if (share === undefined) return toStatus(state);
  return `${toCells(share)} ${toStatus(state)}`;
}

function toStatus(state: ProgressState): string {
  const { read, skipped, identities, elapsedMs } = state;
  const share = toShare(state);
  const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %  `;
  const rate = Math.round((read * 1000) / Math.max(elapsedMs, 1));
  const rest =
    identities > 0
      ? `${formatCount(identities)} identities`
      : `${formatCount(rate)}/s${formatRemaining(share, elapsedMs)}`;
  return `${percent}${formatCount(read)} records  ${rest}${skipped === 0 ? '' : `  ${formatCount(skipped)} skipped`}`;
}

/** Undefined without a size. At most 1, because a log may grow while it is read. */
const toShare = ({ bytesRead, bytesTotal }: ProgressState): number | undefined =>
  bytesTotal === undefined || bytesTotal === 0 ? undefined : Math.min(bytesRead / bytesTotal, 1);
