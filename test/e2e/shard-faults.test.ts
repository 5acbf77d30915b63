// Three ClickHouse servers under traffic, one of them killed over and over, with two workers that
// are killed and paused: every server has each event of its project once, and nothing else.
import { expect, test } from 'vitest';
import { injectFaults } from '../support/inject-faults.js';

const SECONDS = 25;
const TIMEOUT_MS = 480_000;

interface Ledger {
  readonly faults: Readonly<Record<string, number>>;
  readonly shards: readonly Readonly<Record<string, unknown>>[];
}

test('events of three shards are stored once, there, while one of them is killed', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { status, ledger } = await injectFaults<Ledger>('--shards', '3', '--seconds', String(SECONDS));
  const { shards, faults } = ledger;
  const exact = { lost: 0, duplicated: 0, phantom: 0, of_other_shards: 0, profiles_wrong: [] };
  expect(shards).toMatchObject([1, 2, 3].map((shard) => ({ shard, ...exact })));
  // A run without faults or accepted events would prove nothing.
  for (const shard of shards) expect(shard.events_acknowledged).toBeGreaterThan(200);
  const ofVictim = Object.entries(faults).filter(([name]) => name.endsWith('shard 3'));
  expect(ofVictim.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(0);
  expect(status).toBe(0);
});
