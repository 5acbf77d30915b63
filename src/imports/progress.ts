// Progress output: a bar that is redrawn in place on a terminal, otherwise a plain line at
// intervals.

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

/** The subset of process.stderr that is used. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const PLAIN_LINE_MS = 5000;
const BAR_CELLS = 24;

export class ProgressDisplay {
  readonly #screen: Screen;
  #shownAtMs = Number.NEGATIVE_INFINITY;
  #isBarShown = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  update(state: ProgressState): void {
    this.show(state.elapsedMs, { toBar: () => toBar(state), toStatus: () => toStatus(state) });
  }

  /** Calls one of the functions when it is time to show something. */
  show(elapsedMs: number, text: { readonly toBar: () => string; readonly toStatus: () => string }): void {
    const isTerminal = this.#screen.isTTY === true;
    if (elapsedMs - this.#shownAtMs < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS)) return;
    // The first plain line is delayed: most imports end before it.
    const isFirst = this.#shownAtMs === Number.NEGATIVE_INFINITY;
    this.#shownAtMs = elapsedMs;
    if (isTerminal) this.#draw(text.toBar().slice(0, (this.#screen.columns ?? 80) - 1));
    else if (!isFirst) this.#screen.write(`${text.toStatus()}\n`);
  }

  /** Prints a line above the bar. */
  note(message: string): void {
    this.clear();
    this.#screen.write(`${message}\n`);
  }

  clear(): void {
    if (this.#isBarShown) this.#screen.write('\r\x1b[K');
    this.#isBarShown = false;
  }

  #draw(bar: string): void {
    this.#screen.write(`\r${bar}\x1b[K`);
    this.#isBarShown = true;
  }
}

export function toBar(state: ProgressState): string {
  const share = toShare(state);
  if (share === undefined) return toStatus(state);
  return `${toCells(share)} ${toStatus(state)}`;
}

/** A bar for a share from 0 to 1. */
export function toCells(share: number): string {
  const filled = Math.round(share * BAR_CELLS);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}]`;
}

function toStatus(state: ProgressState): string {
  const { read, skipped, identities, elapsedMs } = state;
  const share = toShare(state);
  const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %  `;
  const rate = Math.round((read * 1000) / Math.max(elapsedMs, 1));
  const rest = identities > 0 ? `${formatCount(identities)} identities` : `${formatCount(rate)}/s${toRemaining(state)}`;
  return `${percent}${formatCount(read)} records  ${rest}${skipped === 0 ? '' : `  ${formatCount(skipped)} skipped`}`;
}

/** Once a hundredth is read, by the rate of bytes so far. */
function toRemaining(state: ProgressState): string {
  const share = toShare(state);
  if (share === undefined || share < 0.01 || share === 1) return '';
  const seconds = Math.ceil((state.elapsedMs * (1 - share)) / share / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return `  ${hours} h ${minutes % 60} min left`;
  return minutes > 0 ? `  ${minutes} min ${seconds % 60} s left` : `  ${seconds} s left`;
}

export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** Undefined without a size. At most 1, because a log may grow while it is read. */
const toShare = ({ bytesRead, bytesTotal }: ProgressState): number | undefined =>
  bytesTotal === undefined || bytesTotal === 0 ? undefined : Math.min(bytesRead / bytesTotal, 1);
