// An import of every source that is interrupted and started again: the service has exactly what one
// import without interruption sends. Its stub keeps events by insert_id, as the service counts
// them; `access-log.test.ts` interrupts the process.
import { expect, test } from 'vitest';
import { GENERATED_IMPORTS, type GeneratedImport } from '../../../bench/generated-exports.js';
import { runImport } from '../../../src/imports/run-import.js';
import { findSource } from '../../../src/imports/sources/table.js';
import type { SendBatch } from '../../../src/imports/track-client.js';
import { generatedFile } from '../../support/imports.js';

const RECORDS = 800;
const BATCHES = { eventsMax: 50, bytesMax: 1e6 };
const AFTER_MS = Date.UTC(2027, 0, 1);

/** What the service has received. */
interface Received {
  readonly events: Map<string, unknown>;
  readonly calls: Set<string>;
}

const receiveNothing = (): Received => ({ events: new Map(), calls: new Set() });

/** `isEnough` interrupts the import before a request. */
function importAll({ name, files }: GeneratedImport, { events, calls }: Received, isEnough = () => false) {
  const open = findSource(files[0].source)?.open({ site: undefined, timeZone: undefined });
  if (open === undefined) throw new Error(`no source ${name}`);
  const interrupt = new AbortController();
  const receiving =
    (receive: (body: Record<string, object[]>) => number): SendBatch =>
    async (body) => {
      if (isEnough()) interrupt.abort();
      return { accepted: receive(JSON.parse(body)) };
    };
  const track = receiving(({ events: sent = [] }) => {
    for (const event of sent as { insert_id: string }[]) events.set(event.insert_id, event);
    return sent.length;
  });
  const identifyBatch = receiving(({ calls: sent = [] }) => {
    for (const call of sent) calls.add(JSON.stringify(call));
    return sent.length;
  });
  return runImport(
    files.map((generated) => generatedFile(generated, RECORDS)),
    {
      ...{ open, clients: { track, identifyBatch }, library: 'test/1', nowMs: AFTER_MS },
      ...{ batchLimits: BATCHES, requestsMax: 1, signal: interrupt.signal },
    },
  );
}

test.each(GENERATED_IMPORTS)('$name', async (generated) => {
  const whole = receiveNothing();
  await importAll(generated, whole);
  expect(whole.events.size).toBeGreaterThan(RECORDS / 2);

  const received = receiveNothing();
  const isHalf = () => received.events.size >= whole.events.size / 2;
  await expect(importAll(generated, received, isHalf)).rejects.toThrow('aborted');
  expect(isHalf()).toBe(true);
  expect(received.events.size).toBeLessThan(whole.events.size);
  await importAll(generated, received);
  expect(received).toEqual(whole);
});
