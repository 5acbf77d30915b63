// Import pipeline with a stub of the service: repeated imports, edge cases of lines, bounded
// concurrency, failures.
import { expect, test } from 'vitest';
import { importAccessLog } from '../../../src/imports/import-access-log.js';
import { readLines } from '../../../src/imports/line-reader.js';
import { generateAccessLog } from '../../support/access-log-generator.js';

const OPTIONS = { site: undefined, library: 'service-import/1.0.0' };
const LINE = '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1 "-" "curl"';

const linesOf = (text: string) =>
  readLines(
    (async function* () {
      yield Buffer.from(text);
    })(),
  );

/** Stub of the service that keeps events by insert_id, as the service would count them. */
function createStore() {
  const ids = new Set<string>();
  const batches: number[] = [];
  const send = async (body: string) => {
    const { events } = JSON.parse(body) as { events: { insert_id: string }[] };
    for (const event of events) ids.add(event.insert_id);
    batches.push(events.length);
    return { accepted: events.length };
  };
  return { ids, batches, send };
}

test('every valid line becomes one event, and a second import with other batches adds none', async () => {
  const log = generateAccessLog({ seed: 1, lines: 3000, firstDay: '2015-05-17', days: 4 });
  const store = createStore();
  const unparsable: number[] = [];
  const first = await importAccessLog(linesOf(log.text), {
    ...OPTIONS,
    send: store.send,
    onUnparsable: (line) => unparsable.push(line.number),
  });
  expect(first).toEqual({
    lines: log.validLines + log.malformedLines,
    sent: log.validLines,
    accepted: log.validLines,
    skipped: 0,
    unparsable: log.malformedLines,
  });
  expect(unparsable).toHaveLength(log.malformedLines);
  expect(store.ids.size).toBe(log.validLines);

  const batchLimits = { eventsMax: 77, bytesMax: 1e6 };
  await importAccessLog(linesOf(log.text), { ...OPTIONS, batchLimits, send: store.send });
  expect(store.ids.size).toBe(log.validLines);
});

const EDGES: readonly (readonly [rule: string, text: string, events: number, unparsable: number])[] = [
  ['identical lines are separate events', `${LINE}\n${LINE}\n`, 2, 0],
  ['blank lines are ignored', `\n${LINE}\n  \n`, 1, 0],
  ['a truncated line with a line break is an event', `${LINE.slice(0, -1)}\n`, 1, 0],
  ['a truncated last line without a line break is no event', LINE.slice(0, -1), 0, 1],
  ['a complete last line without a line break is an event', LINE, 1, 0],
  ['a line with a time before 2000 is no event', `${LINE.replace('2015', '1999')}\n`, 0, 1],
  ['a line above the size limit is no event', `${LINE} ${'x'.repeat(70_000)}\n`, 0, 1],
];

test.each(EDGES)('%s', async (_rule, text, events, unparsable) => {
  const store = createStore();
  const summary = await importAccessLog(linesOf(text), { ...OPTIONS, send: store.send });
  expect([store.ids.size, summary.unparsable]).toEqual([events, unparsable]);
});

test('events that the service does not accept are counted as skipped', async () => {
  const send = async () => ({ accepted: 0 });
  const summary = await importAccessLog(linesOf(`${LINE}\n`), { ...OPTIONS, send });
  expect(summary).toMatchObject({ sent: 1, accepted: 0, skipped: 1 });
});

test('concurrent requests are limited, and reading waits for them', async () => {
  const text = `${LINE}\n`.repeat(20);
  let underWay = 0;
  let most = 0;
  const send = async (): Promise<{ accepted: number }> => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return { accepted: 1 };
  };
  const batchLimits = { eventsMax: 1, bytesMax: 1e6 };
  const summary = await importAccessLog(linesOf(text), { ...OPTIONS, send, batchLimits, requestsMax: 3 });
  expect([most, summary.sent]).toEqual([3, 20]);
});

test('a failed request fails the import', async () => {
  const send = async () => Promise.reject(new Error('the service is unavailable'));
  await expect(importAccessLog(linesOf(`${LINE}\n`), { ...OPTIONS, send })).rejects.toThrow(
    'the service is unavailable',
  );
});
