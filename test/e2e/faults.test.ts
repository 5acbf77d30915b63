// Some forty faults in 80 seconds: nothing acknowledged may be lost, duplicated or wrong. The
// ledger is printed; its seed repeats the run (npm run faults -- --seed …).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';

const SECONDS = 55;
const TIMEOUT_MS = 480_000;

test('acknowledged events are stored once, and alerts told once, through kills, pauses and a full disk', {
  timeout: TIMEOUT_MS,
}, async () => {
  const main = join(packageRoot, 'dist', 'faults', 'main.js');
  const child = spawn(process.execPath, [main, '--seconds', String(SECONDS)], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(printed);
  const ledger = JSON.parse(printed);
  expect(ledger).toMatchObject({ lost: 0, duplicated: 0, phantom: 0, profiles_wrong: [] });
  // Apart from repetitions with the same delivery id, each transition of an alert is told once.
  expect(ledger).toMatchObject({ hooks_missing: [], hooks_unknown: [], hooks_changed: [], alerts_disordered: [] });
  expect(ledger.transitions).toBeGreaterThan(1);
  expect(ledger.hooks_repeated).toBeGreaterThan(0);
  // A run without faults or accepted events would prove nothing.
  expect(ledger.events_acknowledged).toBeGreaterThan(1000);
  expect(Object.values<number>(ledger.faults).reduce((sum, count) => sum + count)).toBeGreaterThan(20);
  expect(ledger.answers_cut_after_storing).toBeGreaterThan(20);
  expect(ledger.batches_sent_twice).toBeGreaterThan(100);
  expect(status).toBe(0);
});
