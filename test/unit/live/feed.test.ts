// Live feed: what is new in each answer, a gap between two answers, and what viewers are told of a
// failure.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EVENTS_MAX, LiveFeeds, type Message, type Row } from '../../../src/live/feed.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The page with the newest events when `count` have come. */
const pageAfter = (count: number): Row[] =>
  Array.from({ length: Math.min(count, EVENTS_MAX) }, (_, index) => ({ insert_id: count - index }));

/** The messages of the feed when so many events have come at each poll: kinds, and events sent. */
async function watch(counts: readonly number[]): Promise<string[]> {
  const left = [...counts];
  const feeds = new LiveFeeds({
    readEvents: async () => pageAfter(left.shift() ?? 0),
    readRejected: async () => [],
    warn: () => {},
  });
  const messages: Message[] = [];
  const stop = feeds.watch({ projectId: toProjectId('p'), personId: 'ann' }, (message) => messages.push(message));
  await vi.advanceTimersByTimeAsync((counts.length - 1) * 1000);
  stop();
  return messages.map(({ kind, data }) => (kind === 'events' ? `${(data as Row[]).length} events` : kind));
}

test.each<[string, number[], string[]]>([
  ['a burst after nothing', [0, 200], ['0 events', '50 events', 'gap']],
  ['a burst after other events', [20, 220, 221], ['20 events', '50 events', 'gap', '1 events']],
  ['as many events as fit beside a known one', [10, 59], ['10 events', '49 events']],
  ['fewer events than fit', [0, 49], ['0 events', '49 events']],
  ['the first answer', [200], ['50 events']],
])('a gap is told: %s', async (_, counts, expected) => {
  expect(await watch(counts)).toEqual(expected);
});

/** What a viewer is told when reading fails, and what is logged. */
async function failWith(error: Error) {
  const [messages, logged]: [Message[], unknown[]] = [[], []];
  const feeds = new LiveFeeds({
    readEvents: async () => [],
    readRejected: () => Promise.reject(error),
    warn: (cause) => logged.push(cause),
  });
  const stop = feeds.watch({ projectId: toProjectId('p'), personId: 'ann' }, (message) => messages.push(message));
  await vi.advanceTimersByTimeAsync(0);
  stop();
  return { messages, logged };
}

test('the message of a store is in the log only', async () => {
  const error = new Error('connect ECONNREFUSED 10.1.2.3:6379');
  const { messages, logged } = await failWith(error);
  expect(messages).toEqual([{ kind: 'problem', data: { error: 'the events cannot be read right now' } }]);
  expect(logged).toEqual([error]);
});

test('an error for clients is told as it is, and its cause is logged', async () => {
  const cause = new Error('fetch failed');
  const { messages, logged } = await failWith(new PublicError('unavailable', 'try again', { cause }));
  expect(messages).toEqual([{ kind: 'problem', data: { error: 'try again' } }]);
  expect(logged).toEqual([cause]);
  expect((await failWith(new PublicError('too_large', 'too many bytes'))).logged).toEqual([]);
});
