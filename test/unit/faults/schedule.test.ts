// Plans of faults: every seed hits what the run is about, so that no run proves nothing.
import { expect, test } from 'vitest';
import { createRandom } from '../../../faults/random.js';
import { planShardFaults } from '../../../faults/schedule.js';

test('at least every second fault of a run with shards is one of the victim', () => {
  for (let seed = 0; seed < 2000; seed += 1) {
    const faults = planShardFaults(createRandom(seed), { durationMs: 25_000, victim: 'shard 3' });
    const others = faults.filter((fault) => fault.process !== 'shard 3');
    expect([seed, others.length]).toEqual([seed, expect.toSatisfy((count) => count <= faults.length / 2)]);
  }
});
