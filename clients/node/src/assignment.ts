// Deterministic variant assignment: the same input gives the same variant in every client, without
// a request.
import { toHex } from './hex.js';
import { sha256 } from './sha256.js';

export interface AssignedVariant {
  readonly variant: string | undefined;
  readonly weight: number | undefined;
  readonly assignmentId: string;
}

/**
 * Hashes the seed (project id when known, else the key in use), environment, choice key and unit
 * id, in this order. Without weights all variants have equal weight.
 */
export const assignVariant = (
  unit: readonly [seed: string, environment: string, choiceKey: string, subject: string],
  variants: readonly string[],
  weights: readonly number[] = variants.map(() => 1),
): AssignedVariant => {
  const digest = sha256(new TextEncoder().encode(unit.join('\x1f'))) as [number, number, number, number];
  // The first 53 bits (exact in a double) as a fraction of 1.
  const point = (digest[0] >>> 0) / 2 ** 32 + (digest[1] >>> 11) / 2 ** 53;
  let total = 0;
  const ends = weights.map((weight) => {
    total += weight;
    return total;
  });
  const index = ends.findIndex((end) => point * total < end);
  return { variant: variants[index], weight: weights[index], assignmentId: toHex(digest.slice(0, 4)) };
};
