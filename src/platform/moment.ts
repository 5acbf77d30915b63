// Time that has certainly not passed yet, for leases of a process that may be stopped.

/**
 * A moment by two clocks. The monotonic one runs on while a process is stopped, but not while its
 * machine is suspended; the clock of the machine may be set back. The longer time counts.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const momentNow = (): Moment => ({ monotonicMs: performance.now(), wallMs: Date.now() });

export function msSince(moment: Moment): number {
  const now = momentNow();
  return Math.max(now.monotonicMs - moment.monotonicMs, now.wallMs - moment.wallMs);
}
