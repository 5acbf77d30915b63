// Progress output: a bar that is redrawn in place on a terminal, otherwise a plain line at
// intervals.
import type { ImportSummary } from './import-access-log.js';

export interface ProgressState {
  readonly summary: ImportSummary;
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
  const { lines, unparsable } = state.summary;
  const share = toShare(state);
  const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %  `;
  const rate = Math.round((lines * 1000) / Math.max(state.elapsedMs, 1));
  const faults = unparsable === 0 ? '' : `  ${formatCount(unparsable)} unparsable`;
  return `${percent}${formatCount(lines)} lines  ${formatCount(rate)} lines/s${faults}`;
}

export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** Undefined without a size. At most 1, because a log may grow while it is read. */
const toShare = ({ bytesRead, bytesTotal }: ProgressState): number | undefined =>
  bytesTotal === undefined || bytesTotal === 0 ? undefined : Math.min(bytesRead / bytesTotal, 1);
