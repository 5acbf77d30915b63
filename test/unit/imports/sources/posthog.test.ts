// Mapping of PostHog's batch exports, and who is one person.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, test } from 'vitest';
import { findInput } from '../../../../src/imports/input/input-files.js';
import { posthog } from '../../../../src/imports/sources/posthog/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf, testPeople } from '../../../support/imports.js';
import { toParquet } from '../../../support/parquet.js';

const FIXTURE = readFileSync(new URL('fixtures/posthog.ndjson', import.meta.url), 'utf8');
const mapped = await mapAll(posthog, inputOf(FIXTURE));
const find = (name: string) => eventsOf(mapped).filter((event) => event.event_type === name);

const ANONYMOUS = '018c0000-0000-7000-8000-00000000000a';
const AFTER_RESET = '018c0000-0000-7000-8000-00000000000b';

test('a page view has its page, session, agent and place; the anonymous distinct_id is the device', () => {
  expect(find('page_view')[0]).toEqual({
    event_type: 'page_view',
    timeMs: Date.UTC(2023, 10, 14, 22, 13, 20, 123),
    insert_id: 'ph:018c0001-0000-7000-8000-000000000001',
    device_id: ANONYMOUS,
    session_id: 's1',
    event_properties: { url: 'https://shop.example/', title: 'Shop', $lib: 'web', $browser: 'Chrome' },
    ip: '203.0.113.9',
    user_agent: 'Mozilla/5.0',
    geo: { country: 'DE', city: 'Berlin', latitude: 52.5, longitude: 13.4 },
    origin: 'client',
  });
});

test('properties may be text, and repeated events have one key', () => {
  const [first, second] = find('purchase');
  expect(first).toMatchObject({
    timeMs: Date.UTC(2023, 10, 14, 22, 15, 0, 500),
    user_id: 'u1',
    session_id: 's1',
    event_properties: { price: 12.5 },
  });
  expect(second).toEqual(first);
});

test('the person after reset() is another one, though $device_id is the same', () => {
  expect(find('page_view')[1]).toMatchObject({ device_id: AFTER_RESET });
  expect(peopleOf(mapped)).toEqual([
    ['page_view', 'u1'],
    ['purchase', 'u1'],
    ['purchase', 'u1'],
    ['page_view', AFTER_RESET],
    ['invoice', 'u2'],
    ['anonymous', 'u2'],
    // The id of this user is a UUID.
    ['uuid user', '018c0000-0000-7000-8000-0000000000ff'],
    ['uuid user', '018c0000-0000-7000-8000-0000000000ff'],
  ]);
});

test('profiles are of users, without what PostHog derives', () => {
  const profiles = mapped.flatMap((item) => (item.kind === 'profile' ? [[item.user, item.properties]] : []));
  expect(profiles).toEqual([
    ['u1', { channel: 'search', plan: 'free', email: 'ann@shop.example' }],
    ['u1', { plan: 'pro' }],
    ['u1', { plan: 'pro' }],
    ['u1', { email: 'ann@shop.example', plan: 'team' }],
  ]);
});

test('what has no equal is skipped with a reason', () => {
  expect(skippedOf(mapped)).toEqual([
    'not JSON',
    '$groupidentify: groups have no profiles',
    'the person of a device: profiles here are of users',
  ]);
});

const EVENT = (hour: number, event: string, distinctId: string, properties: object = {}) =>
  JSON.stringify({
    uuid: `${hour}`,
    event,
    timestamp: `2023-01-01T0${hour}:00:00Z`,
    distinct_id: distinctId,
    properties,
  });

testPeople(posthog, [
  ['an id of a server is a user', [EVENT(1, 'e', ANONYMOUS, { $lib: 'posthog-python' })], [ANONYMOUS]],
  [
    'an alias of an anonymous id, whichever of the two is named first',
    [EVENT(1, 'e', ANONYMOUS), EVENT(2, '$create_alias', ANONYMOUS, { alias: 'u' }), EVENT(3, 'e', 'u')],
    ['u', 'u'],
  ],
  [
    'two users on one device one after the other',
    [
      EVENT(1, 'e', ANONYMOUS),
      EVENT(2, '$identify', 'u', { $anon_distinct_id: ANONYMOUS }),
      EVENT(3, '$identify', 'v', { $anon_distinct_id: AFTER_RESET }),
      EVENT(4, 'e', AFTER_RESET),
    ],
    ['u', 'v'],
  ],
]);

test.each([
  ['an id that no library makes', 'u', {}, 'user'],
  ['an id that a library makes', ANONYMOUS, {}, 'device'],
  ['an id of a page without profiles', 'u', { $process_person_profile: false }, 'device'],
  ['what the library says of an id of its own', ANONYMOUS, { $is_identified: true }, 'user'],
  ['what the library says of another id', 'u', { $is_identified: false }, 'device'],
  ['the id of the signed-in user', ANONYMOUS, { $user_id: ANONYMOUS }, 'user'],
  ['the id of the device', 'u', { $device_id: 'u' }, 'device'],
])('%s', async (_what, id, properties, kind) => {
  const [event] = eventsOf(await mapAll(posthog, inputOf(EVENT(1, 'e', id, properties))));
  expect([event?.user_id, event?.device_id]).toEqual(kind === 'user' ? [id, undefined] : [undefined, id]);
});

test('what an event sets is the profile of its user, also in columns of their own', async () => {
  const record = { ...JSON.parse(EVENT(1, 'e', 'u')), set: { plan: 'pro' }, set_once: { plan: 'free', channel: 'ad' } };
  const profiles = (await mapAll(posthog, inputOf(JSON.stringify(record)))).filter((item) => item.kind === 'profile');
  expect(profiles).toMatchObject([{ user: 'u', properties: { plan: 'pro', channel: 'ad' } }]);
});

test('a person who was deleted is no profile', async () => {
  const PERSON = { distinct_id: 'u', person_id: 'p', properties: { plan: 'pro' }, created_at: '2023-01-01T00:00:00Z' };
  const lines = [true, 1, false].map((isDeleted) => JSON.stringify({ ...PERSON, is_deleted: isDeleted }));
  const people = await mapAll(posthog, inputOf(lines.join('\n')));
  expect(people.map(({ kind }) => kind)).toEqual(['deletion', 'skip', 'deletion', 'skip', 'profile']);
  expect(skippedOf(people)[0]).toBe('a person who was deleted');
  const removed = JSON.stringify({ ...PERSON, is_deleted: true, _inserted_at: '2024-01-01T00:00:00Z' });
  const [deletion] = await mapAll(posthog, inputOf(removed));
  expect(deletion).toEqual({ kind: 'deletion', user: 'u', timeMs: Date.UTC(2024, 0, 1) });
});

test('a server that makes no profile of a user names the user nevertheless, as its SDK does here', async () => {
  const properties = { $lib: 'posthog-node', $process_person_profile: false };
  expect(eventsOf(await mapAll(posthog, inputOf(EVENT(1, 'e', 'u', properties))))).toMatchObject([{ user_id: 'u' }]);
});

describe('Parquet', () => {
  const MEBIBYTE = 1024 * 1024;
  const folder = mkdtempSync(join(tmpdir(), 'posthog-parquet-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const mapFile = async (path: string) => {
    const { files } = await findInput([path], { stdin: process.stdin });
    return (await Promise.all(files.map((file) => mapAll(posthog, file)))).flat();
  };
  const fromLines = mapped.filter((item) => !(item.kind === 'skip' && item.reason === 'not JSON'));

  test.each([
    ['ZSTD in one row group', 'events.parquet.zst', readFileSync(new URL('fixtures/posthog.parquet', import.meta.url))],
    ['Snappy, in row groups of two rows', 'events.parquet', toParquet(FIXTURE, { codec: 'SNAPPY', rowGroupSize: 2 })],
    ['gzip', 'events.parquet.gz', toParquet(FIXTURE, { codec: 'GZIP' })],
    ['Brotli', 'events.parquet.br', toParquet(FIXTURE, { codec: 'BROTLI' })],
    ['a file that is compressed as a whole', 'whole.parquet.gz', gzipSync(toParquet(FIXTURE, {}))],
  ])('%s is read as JSON lines are', async (_what, name, content) => {
    expect(await mapFile(write(name, content))).toEqual(fromLines);
  });

  test('more rows than a slice are read once each, with their numbers as lines', async () => {
    const lines = Array.from({ length: 12_000 }, (_, n) => EVENT(n % 10, `e${n}`, ANONYMOUS)).join('\n');
    const path = write('long.parquet', toParquet(lines, { rowGroupSize: 11_000 }));
    const { files } = await findInput([path], { stdin: process.stdin });
    const found: string[] = [];
    for (const file of files) {
      for await (const { line, mapped: items } of posthog.open({ site: undefined, timeZone: undefined })(file)) {
        found.push(`${line} ${eventsOf(items)[0]?.event_type}`);
      }
    }
    expect(found).toEqual(Array.from({ length: 12_000 }, (_, n) => `${n + 1} e${n}`));
  });

  test.each([
    ['gzip', 'GZIP', gzipSync],
    ['Brotli', 'BROTLI', brotliCompressSync],
  ] as const)('a page in %s ends at the length that its header has', async (_what, codec, compress) => {
    const page = compress(Buffer.alloc(MEBIBYTE));
    const compressors = { [codec]: () => page };
    const file = write(`${codec}.parquet`, toParquet(FIXTURE, { codec, compressors }));
    await expect(mapFile(file)).rejects.toThrow(/larger than \d+ bytes/);
  });

  test('a page in Zstandard ends there as well', async () => {
    const compressors = { ZSTD: () => zstdZeros(64 * MEBIBYTE) };
    const file = write('zstd.parquet', toParquet(FIXTURE, { codec: 'ZSTD', compressors }));
    // The package compares what it was given with the length in the header.
    expect(String(await mapFile(file).catch(String))).not.toContain('67108864');
  });

  test('a page above 128 MiB is refused', async () => {
    const columnData = [{ name: 'event', type: 'BYTE_ARRAY' as const, data: [new Uint8Array(129 * MEBIBYTE)] }];
    const options = { codec: 'GZIP' as const, compressors: { GZIP: () => gzipSync('') }, statistics: false };
    const file = write('large.parquet', Buffer.from(parquetWriteBuffer({ columnData, ...options })));
    await expect(mapFile(file)).rejects.toThrow(/a page of 13526\d+ bytes, which is above 128 MiB/);
  });

  test('a file that is cut off is an error of the file', async () => {
    const whole = toParquet(FIXTURE, {});
    await expect(mapFile(write('cut.parquet', whole.subarray(0, whole.length / 2)))).rejects.toThrow(/parquet/i);
  });
});

/** Zeros in blocks of one repeated byte (RFC 8878, 3.1.1.2). */
function zstdZeros(bytes: number): Buffer {
  const blockBytes = 128 * 1024;
  const head = Buffer.from('28b52ffd0038', 'hex');
  const blocks = Array.from({ length: bytes / blockBytes }, (_, index) => {
    const block = Buffer.alloc(4);
    block.writeUIntLE((blockBytes << 3) | 0b10 | Number(index === bytes / blockBytes - 1), 0, 3);
    return block;
  });
  return Buffer.concat([head, ...blocks]);
}
