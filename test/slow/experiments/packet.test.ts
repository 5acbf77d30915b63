// Result packets of random experiments of conversions.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toChoicePacket } from '../../../src/experiments/packet.js';
import { arbitraryCounts, choice } from '../../unit/experiments/counts.js';
import { judge } from '../../unit/experiments/simulated-experiments.js';

const NOW = Date.UTC(2026, 10, 20, 9, 30);

test('toChoicePacket() decides like judge() of the simulations, with only finite numbers', () => {
  const arbitraryVariants = fc.array(arbitraryCounts(20_000), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(arbitraryVariants, (counts) => {
      const total = counts.reduce((sum, { exposures }) => sum + exposures, 0);
      // Weights as observed, so that the split is as expected.
      const variants = counts.map((count, index) => ({
        ...count,
        variantKey: `v${index}`,
        weight: count.exposures / total,
      }));
      const packet = toChoicePacket(choice(variants), NOW);
      expect(packet.decision_status).toBe(judge(counts).status);
      JSON.stringify(packet, (_, value) => {
        if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
        return value;
      });
    }),
    { numRuns: 200 },
  );
});
