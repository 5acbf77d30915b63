// Calls of /identify at the end of an import: last link by time, final state of profiles.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { findIdProblem, Identities, type IdentityOptions } from '../../../src/imports/identities.js';
import type { Mapped } from '../../../src/imports/source.js';

const LIMITS = { propertiesMax: 256, userPropertiesMax: 3, keyLengthMax: 256, valueBytesMax: 100 };
const NOW_MS = Date.UTC(2026, 0, 31);
const T = Date.UTC(2020, 0, 1);

afterEach(() => void vi.unstubAllEnvs());

async function callsOf(mapped: readonly Mapped[], options: Partial<IdentityOptions> = {}) {
  const identities = new Identities({ limits: LIMITS, overwritesProfiles: false, nowMs: NOW_MS, ...options });
  for (const item of mapped) {
    if (item.kind === 'link') await identities.addLink(item);
    if (item.kind === 'profile') await identities.addProfile(item);
    if (item.kind === 'deletion') await identities.addDeletion(item);
  }
  const calls: unknown[] = [];
  for await (const { call, problem } of identities.calls()) calls.push(problem ?? call);
  await identities.close();
  return calls;
}

const link = (device: string, user: string, timeMs: number): Mapped => ({
  kind: 'link',
  device,
  user,
  timeMs: T + timeMs,
});
const profile = (timeMs: number, properties: Record<string, unknown>): Mapped => ({
  ...{ kind: 'profile', user: 'u', timeMs: T + timeMs },
  properties,
});

test('each device gets one call with the user of its last link by time; of equal times the later line', async () => {
  const links = [link('b', 'v', 5), link('a', 'u', 1), link('b', 'u', 4), link('a', 'w', 1)];
  const expected = [
    { user_id: 'w', device_id: 'a', time: T + 1 },
    { user_id: 'v', device_id: 'b', time: T + 5 },
  ];
  expect(await callsOf(links)).toEqual(expected);
  expect(await callsOf(links, { runBytesMax: 1 })).toEqual(expected);
});

test('a profile is its last value of each property, with the time of each', async () => {
  const changes = [profile(2, { plan: 'pro' }), profile(1, { plan: 'free', city: 'Rome' }), profile(3, { seats: 2 })];
  expect(await callsOf(changes)).toEqual([
    { user_id: 'u', time: T + 2, user_properties: { plan: 'pro' } },
    { user_id: 'u', time: T + 1, user_properties: { city: 'Rome' } },
    { user_id: 'u', time: T + 3, user_properties: { seats: 2 } },
  ]);
  const state = { plan: 'pro', city: 'Rome', seats: 2 };
  const overwritten = [{ user_id: 'u', time: NOW_MS, user_properties: state }];
  expect(await callsOf(changes, { overwritesProfiles: true, runBytesMax: 1 })).toEqual(overwritten);
});

test('of two values of a property at the same time the later record wins', async () => {
  expect(await callsOf([profile(1, { plan: 'free' }), profile(1, { plan: 'pro' })])).toEqual([
    { user_id: 'u', time: T + 1, user_properties: { plan: 'pro' } },
  ]);
});

test('a profile of more properties than a call may have is several calls, and one without any is one', async () => {
  const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((key) => [key, 1]));
  expect(await callsOf([profile(1, many)])).toHaveLength(2);
  const empty = [{ user_id: 'u', time: T + 2, user_properties: {} }];
  expect(await callsOf([profile(1, {}), profile(2, {})])).toEqual(empty);
  const known = [{ user_id: 'u', time: NOW_MS, user_properties: { plan: 'pro' } }];
  expect(await callsOf([profile(1, { plan: 'pro' }), profile(2, {})], { overwritesProfiles: true })).toEqual(known);
});

test('what did not fit in memory leaves no files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'identities-'));
  vi.stubEnv('TMPDIR', folder);
  expect(await callsOf([link('a', 'u', 1), profile(1, { plan: 'pro' })], { runBytesMax: 1 })).toHaveLength(2);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('a deletion takes what is older, in whatever order and run it is read', async () => {
  const deletion: Mapped = { kind: 'deletion', user: 'u', timeMs: T + 2 };
  const [older, empty, newer] = [profile(1, { plan: 'pro' }), profile(2, {}), profile(3, { city: 'Rome' })];
  const recreated = [{ user_id: 'u', time: T + 3, user_properties: { city: 'Rome' } }];
  for (const runBytesMax of [1, 1_000_000]) {
    expect(await callsOf([older, deletion, empty], { runBytesMax })).toEqual([]);
    expect(await callsOf([deletion, older, newer, empty], { runBytesMax })).toEqual(recreated);
    expect(await callsOf([newer, empty, older, deletion], { runBytesMax })).toEqual(recreated);
  }
  expect(await callsOf([deletion])).toEqual([]);
});

test('a link without a time is the oldest', async () => {
  const time = Date.UTC(2000, 0, 1);
  expect(await callsOf([link('a', 'u', -T)])).toEqual([{ user_id: 'u', device_id: 'a', time }]);
});

test('a property may be called __proto__', async () => {
  const properties = JSON.parse('{"__proto__":"x"}') as Record<string, unknown>;
  const [call] = await callsOf([profile(1, properties), profile(2, properties)]);
  expect(JSON.stringify(call)).toContain('{"__proto__":"x"}');
});

test('a call that the service would refuse has the reason', async () => {
  expect(await callsOf([profile(1, { long: 'x'.repeat(101) })])).toEqual([
    'the value of "long" is larger than 100 bytes',
  ]);
});

test('a property that the service would refuse does not cost the others of its time', async () => {
  const name = 'x'.repeat(257);
  expect(await callsOf([profile(1, { plan: 'pro', [name]: 1, long: 'x'.repeat(101) })])).toEqual([
    { user_id: 'u', time: T + 1, user_properties: { plan: 'pro' } },
    expect.stringMatching(/^the property key "x+…" is longer than 256 characters$/),
    'the value of "long" is larger than 100 bytes',
  ]);
});

const IDS: readonly (readonly [id: string | number, problem: string | undefined])[] = [
  ['u', undefined],
  ['undefined', '"undefined" is not an id'],
  [1e300, 'an id is a number too large to be read exactly'],
  ['x'.repeat(513), 'an id is longer than 512 characters'],
];

test.each(IDS)('findIdProblem(%s)', (id, problem) => expect(findIdProblem(id)).toBe(problem));
