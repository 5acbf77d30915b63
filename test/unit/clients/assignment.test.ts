// Variant assignment, compared with the rule computed by Node's own SHA-256.
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { assignVariant } from '../../../clients/node/src/assignment.js';
import { toHex } from '../../../clients/node/src/hex.js';
import { sha256 } from '../../../clients/node/src/sha256.js';

const reference = (text: string | Buffer) => createHash('sha256').update(text).digest();

test('sha256() is correct for every length up to 200 bytes', () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = randomBytes(length);
    expect(toHex(sha256(bytes))).toBe(reference(bytes).toString('hex'));
  }
});

describe('assignVariant', () => {
  const unit = (subject: string) => ['seed', 'production', 'checkout', subject] as const;

  test('maps the first 53 bits of the digest to the weights in order', () => {
    const weights = [1, 0, 2.5, 0.5];
    const names = ['a', 'b', 'c', 'd'];
    for (let n = 0; n < 500; n += 1) {
      const digest = reference(['seed', 'production', 'checkout', `ü-${n}`].join('\x1f'));
      const point = (Number(digest.readBigUInt64BE() >> 11n) / 2 ** 53) * 4;
      const expected = point < 1 ? 'a' : point < 3.5 ? 'c' : 'd';
      expect(assignVariant(unit(`ü-${n}`), names, weights)).toEqual({
        variant: expected,
        weight: weights[names.indexOf(expected)],
        assignmentId: digest.toString('hex').slice(0, 32),
      });
    }
  });

  test('uses equal weights by default', () => {
    const counts = { a: 0, b: 0 };
    for (let n = 0; n < 4000; n += 1) counts[assignVariant(unit(`${n}`), ['a', 'b']).variant as 'a' | 'b'] += 1;
    expect(Math.abs(counts.a - counts.b)).toBeLessThan(250);
  });

  test('returns undefined without variants', () => {
    expect(assignVariant(unit('x'), []).variant).toBeUndefined();
  });
});
