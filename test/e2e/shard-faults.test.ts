// Three ClickHouse servers under traffic, one of them killed over and over, with two workers that
// are killed and paused: every server has each event of its project once, and nothing else. The
// ledger is printed; its seed repeats the run (npm run faults -- --shards 3 --seed …).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';

const SECONDS = 25;
const TIMEOUT_MS = 480_000;

interface Ledger {
  readonly faults: Readonly<Record<string, number>>;
  readonly shards: readonly Readonly<Record<string, unknown>>[];
}

test('events of three shards are stored once, there, while one of them is killed', {
  timeout: TIMEOUT_MS,
}, async () => {
  const main = join(packageRoot, 'dist', 'faults', 'main.js');
  const child = spawn(process.execPath, [main, '--shards', '3', '--seconds', String(SECONDS)], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(printed);
  const { shards, faults } = JSON.parse(printed) as Ledger;
  const exact = { lost: 0, duplicated: 0, phantom: 0, of_other_shards: 0, profiles_wrong: [] };
  expect(shards).toMatchObject([1, 2, 3].map((shard) => ({ shard, ...exact })));
  // A run without faults or accepted events would prove nothing.
  for (const shard of shards) expect(shard.events_acknowledged).toBeGreaterThan(200);
  const ofVictim = Object.entries(faults).filter(([name]) => name.endsWith('shard 3'));
  expect(ofVictim.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(0);
  expect(status).toBe(0);
});
