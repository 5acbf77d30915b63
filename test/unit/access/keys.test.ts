// Format and randomness of keys and ids, and encryption of secret keys.
import { describe, expect, test } from 'vitest';
import { encryptSecret, keyKindOf, newKey, tryDecryptSecret } from '../../../src/access/keys.js';
import { newUuidV7, randomBase62 } from '../../../src/platform/ids.js';

describe('keys', () => {
  test.each(['public', 'secret', 'admin', 'token'] as const)('keyKindOf() recognises a new %s key', (kind) => {
    expect(keyKindOf(newKey(kind))).toBe(kind);
    expect(newKey(kind)).not.toBe(newKey(kind));
  });

  test.each(['', 'pk_', `pk_${'x'.repeat(31)}`, `pk_${'x'.repeat(33)}`, `pk_${'x'.repeat(31)}'`, 'x'.repeat(35)])(
    'keyKindOf() rejects "%s"',
    (text) => {
      expect(keyKindOf(text)).toBeUndefined();
    },
  );

  test('an encrypted secret is decrypted with its key base only, and not after a change', () => {
    const base = 'a'.repeat(32);
    const encrypted = encryptSecret('sk_x', base);
    expect(tryDecryptSecret(encrypted, base)).toBe('sk_x');
    expect(tryDecryptSecret(encrypted, 'b'.repeat(32))).toBeUndefined();
    encrypted[encrypted.length - 1] = (encrypted.at(-1) ?? 0) ^ 1;
    expect(tryDecryptSecret(encrypted, base)).toBeUndefined();
  });
});

test('randomBase62() uses all 62 characters', () => {
  expect(new Set(randomBase62(20_000)).size).toBe(62);
});

test('newUuidV7() sorts by time and contains the version', () => {
  const [earlier, later] = [newUuidV7(1_000), newUuidV7(2_000)];
  expect(earlier < later).toBe(true);
  expect(later).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
