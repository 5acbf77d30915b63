// Learning from rejected property guesses, each at most once.
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { GUESSES, type Guess } from '../../../src/query/property-guess.js';
import { refusalText, tokenOf, tryParseRefusal } from '../../../src/query/property-token.js';
import { createPropertyGuesses } from '../../../src/query-api/property-guesses.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const otherId = toProjectId('00000000-0000-7000-8000-000000000002');
const token = tokenOf('event_properties', 'plan');

/** The error of ClickHouse, whose message ends with the throwing function. */
const refused = (guess: Guess, code = '395') => {
  const text = refusalText({ token, guess });
  return new ClickHouseError({ message: `${text}: while executing 'FUNCTION throwIf(…)'`, code, type: 'X' });
};

test('tryParseRefusal() returns the property and the guess', () => {
  expect(tryParseRefusal(refused('number').message)).toEqual({ token, guess: 'number' });
  expect(tryParseRefusal('memory limit exceeded')).toBeUndefined();
});

test('tokenOf() distinguishes properties by map and key', () => {
  const tokens = [token, tokenOf('user_properties', 'plan'), tokenOf('event_properties', 'Plan')];
  expect(new Set(tokens).size).toBe(3);
});

test('a guess changes for one property of one project when it is rejected', () => {
  const guesses = createPropertyGuesses();
  for (const [index, guess] of GUESSES.slice(0, -1).entries()) {
    expect(guesses.of(projectId)('event_properties', 'plan')).toBe(guess);
    expect(guesses.learn(projectId, refused(guess))).toBe(true);
    expect(guesses.of(projectId)('event_properties', 'plan')).toBe(GUESSES[index + 1]);
  }
  expect(guesses.of(otherId)('event_properties', 'plan')).toBe('text');
  expect(guesses.of(projectId)('event_properties', 'other')).toBe('text');
});

test('two queries rejected for the same guess learn once', () => {
  const guesses = createPropertyGuesses();
  expect([guesses.learn(projectId, refused('text')), guesses.learn(projectId, refused('text'))]).toEqual([true, true]);
  expect(guesses.of(projectId)('event_properties', 'plan')).toBe('number');
});

test('other errors change no guess', () => {
  const guesses = createPropertyGuesses();
  expect(guesses.learn(projectId, refused('text', '241'))).toBe(false);
  expect(guesses.learn(projectId, new Error(refused('text').message))).toBe(false);
  expect(guesses.of(projectId)('event_properties', 'plan')).toBe('text');
});

test('the catalog in memory decides until a guess from it is rejected', () => {
  const keys = (field: string, ...names: string[]) =>
    names.map((name) => ({ kind: 'key' as const, field, name, events: 1 }));
  let catalog = toCatalog([], true);
  const guesses = createPropertyGuesses((id) => (id === projectId ? catalog : undefined));
  const guess = (key: string, id = projectId) => guesses.of(id)('event_properties', key);
  expect(guess('plan')).toBe('text');
  catalog = toCatalog(
    [
      ...keys('event_properties.plan', 'null', 'number'),
      ...keys('event_properties.both', 'string', 'number'),
      ...keys('event_properties.none', 'null'),
      ...keys('user.plan', 'boolean'),
    ],
    false,
  );
  expect([guess('plan'), guess('both'), guess('none'), guess('other')]).toEqual(['number', 'anything', 'text', 'text']);
  expect(guesses.of(projectId)('user', 'plan')).toBe('boolean');
  expect(guesses.of(projectId)('user_properties', 'plan')).toBe('text');
  expect(guess('plan', otherId)).toBe('text');
  // A query that was compiled before the catalog was there.
  guesses.learn(projectId, refused('text'));
  expect(guess('plan')).toBe('number');
  guesses.learn(projectId, refused('number'));
  expect(guess('plan')).toBe('anything');
  const known = guesses.known(projectId);
  expect([known.get(token), known.get(tokenOf('user', 'plan'))]).toEqual(['anything', 'boolean']);
  expect(guesses.known(otherId).size).toBe(0);
});
