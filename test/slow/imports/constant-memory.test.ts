// Exports of any length are read in constant memory by every source: what an import keeps alive
// after a quarter of the records does not grow by the rest. `npm run bench -- import-sources`
// measures whole processes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { GENERATED_IMPORTS } from '../../../bench/generated-exports.js';
import { splitTabs } from '../../../src/imports/input/tab-separated.js';
import { runImport } from '../../../src/imports/run-import.js';
import type { Id } from '../../../src/imports/source.js';
import { COLUMNS } from '../../../src/imports/sources/snowplow/columns.js';
import { snowplow } from '../../../src/imports/sources/snowplow/read.js';
import { findSource, SOURCES } from '../../../src/imports/sources/table.js';
import { generatedFile } from '../../support/imports.js';

const RECORDS = 16_000;
const MEGABYTE = 1_000_000;
/** A record that is kept has at least 300 bytes as an object: of three quarters 4 MB. */
const GROWTH_MAX = 2.5 * MEGABYTE;
const AFTER_MS = Date.UTC(2027, 0, 1);

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a value does not keep the line that it is a part of', () => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 1000 }, (_, n) => {
    const line = Buffer.from(`${'x'.repeat(10_000)}\tan id of some length ${n}`).toString();
    return splitTabs(line)[1];
  });
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * MEGABYTE);
  expect(kept).toHaveLength(1000);
});

test.each(['domain_userid', 'network_userid'])(
  'the ids of a row of Snowplow do not keep its line: %s',
  async (device) => {
    const text = 'a text of some length';
    const readAll = async function* () {
      for (let n = 0; n < 1000; n += 1) {
        const row = { event: 'page_view', event_id: `${n}`, page_url: 'x'.repeat(10_000), user_id: `${text} ${n}` };
        const values = new Map(Object.entries({ ...row, [device]: `${text} ${n}` }));
        yield Buffer.from(`${COLUMNS.map((name) => values.get(name) ?? '').join('\t')}\n`);
      }
    };
    const open = snowplow.open({ site: undefined, timeZone: undefined });
    const kept: Id[] = [];
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for await (const { mapped } of open({ name: 'text', open: readAll })) {
      for (const each of mapped) if (each.kind === 'link') kept.push(each.device, each.user);
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * MEGABYTE);
    expect(kept).toHaveLength(2000);
  },
);

test('every source has a generated export', () => {
  const sources = new Set(GENERATED_IMPORTS.map(({ files: [{ source }] }) => source));
  expect([...sources].sort()).toEqual(SOURCES.map(({ name }) => name).sort());
});

test.each(GENERATED_IMPORTS)('$name', async ({ files }) => {
  const { source: name, eventsPerRecord = 1 } = files[0];
  const source = findSource(name);
  if (source === undefined) throw new Error(`no source ${name}`);
  const alive: number[] = [];
  let sampled = 0;
  let sent = 0;
  const send = async (body: string) => {
    const { events = [], calls = [] } = JSON.parse(body) as { events?: object[]; calls?: object[] };
    sent += events.length;
    return { accepted: events.length + calls.length };
  };
  const summary = await runImport(
    files.map((generated) => generatedFile(generated, RECORDS)),
    {
      open: source.open({ site: undefined, timeZone: undefined }),
      clients: { track: send, identifyBatch: send },
      ...{ library: 'test/1', nowMs: AFTER_MS },
      onProgress: ({ read }) => {
        if (read < sampled + RECORDS / 8) return;
        sampled = read;
        collectGarbage();
        alive.push(process.memoryUsage().heapUsed);
      },
    },
  );
  const events = RECORDS * eventsPerRecord;
  expect([summary.read, summary.events, sent, summary.skippedCount]).toEqual([RECORDS, events, events, 0]);
  expect(alive.length).toBeGreaterThan(4);
  const [, quarter = 0, ...later] = alive;
  expect(Math.max(...later) - quarter).toBeLessThan(GROWTH_MAX);
});
