// Some forty faults in 55 seconds: nothing acknowledged may be lost, duplicated or wrong.
import { expect, test } from 'vitest';
import { injectFaults } from '../support/inject-faults.js';

const SECONDS = 55;
/** A slow machine sends less in that time, and is hit less. */
const RUNS_MAX = 4;
const TIMEOUT_MS = RUNS_MAX * 300_000;

interface Ledger {
  readonly events_acknowledged: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly answers_cut_after_storing: number;
  readonly batches_sent_twice: number;
  readonly transitions: number;
  readonly hooks_repeated: number;
}

/** With fewer, the runs would prove nothing. */
const ENOUGH = {
  events: 1000,
  faults: 20,
  answersCut: 15,
  batchesTwice: 50,
  transitions: 2,
  hooksRepeated: 1,
};

type Hits = Record<keyof typeof ENOUGH, number>;

const isEnough = (hits: Hits): boolean =>
  Object.entries(ENOUGH).every(([name, least]) => hits[name as keyof Hits] >= least);

test('acknowledged events are stored once, and alerts told once, through kills, pauses and a full disk', {
  timeout: TIMEOUT_MS,
}, async () => {
  const hits: Hits = { events: 0, faults: 0, answersCut: 0, batchesTwice: 0, transitions: 0, hooksRepeated: 0 };
  for (let run = 0; run < RUNS_MAX && !isEnough(hits); run += 1) {
    const { status, ledger } = await injectFaults<Ledger>('--seconds', String(SECONDS));
    expect(ledger).toMatchObject({ lost: 0, duplicated: 0, phantom: 0, profiles_wrong: [] });
    // Apart from repetitions with the same delivery id, each transition of an alert is told once.
    expect(ledger).toMatchObject({ hooks_missing: [], hooks_unknown: [], hooks_changed: [], alerts_disordered: [] });
    expect(status).toBe(0);
    hits.events += ledger.events_acknowledged;
    hits.faults += Object.values(ledger.faults).reduce((sum, count) => sum + count, 0);
    hits.answersCut += ledger.answers_cut_after_storing;
    hits.batchesTwice += ledger.batches_sent_twice;
    hits.transitions += ledger.transitions;
    hits.hooksRepeated += ledger.hooks_repeated;
  }
  expect(hits).toSatisfy(isEnough);
});
