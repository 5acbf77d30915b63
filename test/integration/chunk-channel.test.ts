// Chunk channel through Redis: delivers every byte in order, bounds unacknowledged data, stores
// nothing, and fails at both ends after a lost chunk or connection.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newUuidV7 } from '../../src/platform/ids.js';
import { ChunkReceiver, ChunkSender } from '../../src/platform/redis/chunk-channel.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { DuplexClosed } from '../../src/platform/redis/redis-duplex.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const MEBIBYTE = 1024 * 1024;

let databases: TestDatabases;
let redis: Redis;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

async function connect(): Promise<{ channel: string; receiver: ChunkReceiver; sender: ChunkSender }> {
  const channel = newUuidV7();
  const receiver = await ChunkReceiver.open(redis, channel);
  const [isTakenUp, sender] = await Promise.all([
    receiver.ask(Buffer.from('please'), 10_000),
    ChunkSender.open(redis, channel),
  ]);
  if (!isTakenUp || sender === undefined) throw new Error('the two did not find each other');
  return { channel, receiver, sender };
}

/** Of this test's database only, because other tests share the server. */
async function subscribersOf(admin: Redis): Promise<string[]> {
  const clients = String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('\n');
  return clients.filter((line) => line.includes(` db=${redis.options.db} `));
}

const asAdmin = async <T>(work: (admin: Redis) => Promise<T>): Promise<T> => {
  const admin = createRedis({ REDIS_URL: inject('engines').redisAdmin });
  try {
    return await work(admin);
  } finally {
    admin.disconnect();
  }
};

const cutSubscribers = (): Promise<void> =>
  asAdmin(async (admin) => {
    for (const client of await subscribersOf(admin)) {
      await admin.client('KILL', 'ID', /^id=(\d+) /.exec(client)?.[1] ?? '');
    }
  });

async function collect(receiver: ChunkReceiver): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of receiver.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * The rejection reason of a promise. Attaches the handler at once, so that the rejection is never
 * unhandled.
 */
const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );

test('delivers the request to the sender and every byte to the receiver, in order', async () => {
  const { receiver, sender } = await connect();
  expect(sender.request.toString()).toBe('please');
  const sent = Array.from({ length: 300 }, (_, index) => Buffer.alloc(1 + ((index * 7919) % 100_000), index));
  const collected = collect(receiver);
  for (const chunk of sent) await sender.send(chunk);
  await sender.end();
  expect((await collected).equals(Buffer.concat(sent))).toBe(true);
  await receiver.leave();
  sender.close();
});

test('ends cleanly when the sender sends no chunk', async () => {
  const { receiver, sender } = await connect();
  const collected = collect(receiver);
  await sender.end();
  expect(await collected).toHaveLength(0);
  await receiver.leave();
  sender.close();
});

test('the sender waits at the end of its window while the receiver reads nothing', async () => {
  const { receiver, sender } = await connect();
  let sent = 0;
  const sending = (async () => {
    for (; sent < 50; sent += 1) await sender.send(Buffer.alloc(MEBIBYTE / 8, sent));
    await sender.end();
  })();
  await delay(300);
  const sentUntaken = sent;
  expect(sentUntaken).toBeLessThanOrEqual(8);
  expect(await collect(receiver)).toHaveLength((50 * MEBIBYTE) / 8);
  await sending;
  await receiver.leave();
  sender.close();
});

test('stores no key in Redis', async () => {
  const { receiver, sender } = await connect();
  await sender.send(Buffer.from('personal'));
  expect(await redis.dbsize()).toBe(0);
  await receiver.leave();
  sender.close();
});

describe('a chunk channel that breaks', () => {
  test('the receiver fails when the sender reports a failure', async () => {
    const { receiver, sender } = await connect();
    await sender.send(Buffer.from('half'));
    await sender.fail();
    sender.close();
    expect(await reasonOf(collect(receiver))).toBeInstanceOf(DuplexClosed);
    await receiver.leave();
  });

  test('the receiver fails when the sender disconnects', async () => {
    const { receiver, sender } = await connect();
    await sender.send(Buffer.from('half'));
    sender.close();
    expect(await reasonOf(collect(receiver))).toBeInstanceOf(DuplexClosed);
    await receiver.leave();
  });

  test('the receiver fails and refuses a second sender, as when a job runs again', async () => {
    const { channel, receiver, sender } = await connect();
    const second = ChunkSender.open(redis, channel);
    expect(await reasonOf(collect(receiver))).toMatchObject({ message: 'the sender has started again' });
    await receiver.leave();
    expect(await second).toBeUndefined();
    sender.close();
  });

  test('the receiver fails when chunks are missing', async () => {
    const { channel, receiver, sender } = await connect();
    const forged = Buffer.concat([Buffer.from('D'), Buffer.alloc(7), Buffer.from([64]), Buffer.from('x')]);
    await redis.publish(`chunks:${channel}:down`, forged);
    expect(await reasonOf(collect(receiver))).toMatchObject({ message: 'chunks were lost on the way' });
    await receiver.leave();
    sender.close();
  });

  test('the receiver fails when the last chunk is missing', async () => {
    const { channel, receiver, sender } = await connect();
    await sender.send(Buffer.from('first'));
    const total = Buffer.alloc(8);
    total.writeDoubleLE(6);
    await redis.publish(`chunks:${channel}:down`, Buffer.concat([Buffer.from('E'), total]));
    expect(await reasonOf(collect(receiver))).toMatchObject({ message: 'the sender has failed' });
    await receiver.leave();
    sender.close();
  });

  test('the sender fails and aborts when the receiver leaves', async () => {
    const { receiver, sender } = await connect();
    await receiver.leave();
    expect(await reasonOf(sender.end())).toBeInstanceOf(DuplexClosed);
    expect(sender.signal.aborted).toBe(true);
    sender.close();
  });

  test('both ends fail when their connections are cut', async () => {
    const { receiver, sender } = await connect();
    const collected = reasonOf(collect(receiver));
    await cutSubscribers();
    expect(await collected).toBeInstanceOf(DuplexClosed);
    expect(await reasonOf(sender.end())).toBeInstanceOf(DuplexClosed);
    await receiver.leave();
    sender.close();
  });
});

describe('opening a chunk channel', () => {
  test('ask() returns false when no sender answers in time', async () => {
    const receiver = await ChunkReceiver.open(redis, newUuidV7());
    expect(await receiver.ask(Buffer.alloc(0), 100)).toBe(false);
    await receiver.leave();
  });

  test('ChunkSender.open() returns undefined when the receiver has left', async () => {
    expect(await ChunkSender.open(redis, newUuidV7())).toBeUndefined();
    // Its connection is closed.
    await eventually(async () => expect(await asAdmin(subscribersOf)).toEqual([]));
  });
});
