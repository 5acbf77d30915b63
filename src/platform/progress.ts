// Progress of a long command: a bar that is redrawn in place on a terminal, otherwise a plain line
// at intervals. Shared by all commands, and by jobs, whose lines are in the log.

/** The subset of process.stderr that is used. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const PLAIN_LINE_MS = 10_000;
const BAR_CELLS = 24;

export class ProgressDisplay {
  readonly #screen: Screen;
  #shownAtMs = Number.NEGATIVE_INFINITY;
  #isBarShown = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Calls one of the functions when it is time to show something. */
  show(elapsedMs: number, text: { readonly toBar: () => string; readonly toStatus: () => string }): void {
    const isTerminal = this.#screen.isTTY === true;
    if (elapsedMs - this.#shownAtMs < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS)) return;
    // The first plain line is delayed: most commands end before it.
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

/** A bar for a share from 0 to 1. */
export function toCells(share: number): string {
  const filled = Math.round(share * BAR_CELLS);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}]`;
}

/** What is left by the rate so far, with two spaces in front; empty before a hundredth is done. */
export function formatRemaining(share: number | undefined, elapsedMs: number): string {
  if (share === undefined || share < 0.01 || share >= 1) return '';
  const seconds = Math.ceil((elapsedMs * (1 - share)) / share / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return `  ${hours} h ${minutes % 60} min left`;
  return minutes > 0 ? `  ${minutes} min ${seconds % 60} s left` : `  ${seconds} s left`;
}

export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

export interface StepState {
  /** What is being done: `writing the archive`. */
  readonly step: string;
  /** Amount in units of `unit`. */
  readonly done: number;
  /** Undefined when it is unknown. */
  readonly total: number | undefined;
  /** Plural, or `bytes`, which are shown as MiB. */
  readonly unit: string;
}

const MEBIBYTE = 1024 * 1024;

/** One line: share, step, amount, rate and what is left. */
export function toStepStatus({ step, done, total, unit }: StepState, elapsedMs: number): string {
  const share = toStepShare({ done, total });
  const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %  `;
  const perSecond = (done * 1000) / Math.max(elapsedMs, 1);
  const amount =
    unit === 'bytes'
      ? `${(done / MEBIBYTE).toFixed(1)} MiB  ${(perSecond / MEBIBYTE).toFixed(1)} MiB/s`
      : `${formatCount(done)} ${unit}  ${formatCount(Math.round(perSecond))}/s`;
  return `${percent}${step}  ${amount}${formatRemaining(share, elapsedMs)}`;
}

const toStepShare = ({ done, total }: Pick<StepState, 'done' | 'total'>): number | undefined =>
  total === undefined || total === 0 ? undefined : Math.min(done / total, 1);

/** Shows the steps of one command one after the other, each with a rate of its own. */
export class StepProgress {
  readonly #display: ProgressDisplay;
  readonly #startedMs = performance.now();
  #step = '';
  #stepStartedMs = 0;

  constructor(screen: Screen) {
    this.#display = new ProgressDisplay(screen);
  }

  update(state: StepState): void {
    const now = performance.now();
    if (state.step !== this.#step) {
      this.#step = state.step;
      this.#stepStartedMs = now;
    }
    const status = () => toStepStatus(state, now - this.#stepStartedMs);
    const share = toStepShare(state);
    this.#display.show(now - this.#startedMs, {
      toStatus: status,
      toBar: () => (share === undefined ? status() : `${toCells(share)} ${status()}`),
    });
  }

  /** Prints a line above the bar. */
  note(message: string): void {
    this.#display.note(message);
  }

  /**
   * Shows what `read` finds about once a second, until the work ends. A failed reading is skipped.
   */
  async watch<T>(read: () => Promise<StepState | undefined>, work: () => Promise<T>): Promise<T> {
    let isReading = false;
    const show = (): void => {
      if (isReading) return;
      isReading = true;
      const update = (state: StepState | undefined) => void (state !== undefined && this.update(state));
      read()
        .then(update, () => {})
        .finally(() => {
          isReading = false;
        });
    };
    show();
    const timer = setInterval(show, READ_EVERY_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  clear(): void {
    this.#display.clear();
  }
}

const READ_EVERY_MS = 1000;

/** For work of a process without a terminal: a line of its log per 10 s. */
export const logProgress = (log: { info(message: string): void }): StepProgress =>
  new StepProgress({ write: (line) => log.info(line.trim()) });
