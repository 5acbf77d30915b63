// Loaded into a worker before its own code (--import): SIGUSR2 steps the wall clock of the process,
// as a time server or an operator does. Monotonic time and timers go on.
const STEPS_MS = [3_000, -60_000, 1_000, -4_000, 0];

const Real = Date;
let offsetMs = 0;
let steps = 0;

class SteppedDate extends Real {
  constructor(...parts: [] | ConstructorParameters<typeof Real>) {
    if (parts.length === 0) super(Real.now() + offsetMs);
    else super(...parts);
  }
  static override now(): number {
    return Real.now() + offsetMs;
  }
}
globalThis.Date = SteppedDate as DateConstructor;

process.on('SIGUSR2', () => {
  offsetMs = STEPS_MS[steps++ % STEPS_MS.length] ?? 0;
});
