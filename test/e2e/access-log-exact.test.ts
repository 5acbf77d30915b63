// Exact counts under duplicates: events sent several times concurrently, and written by two workers
// of which one is killed, never count twice at any time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateAccessLog } from '../support/access-log-generator.js';
import { type AccessLogService, startAccessLogService } from '../support/access-log-service.js';

const LOG = generateAccessLog({ seed: 7, lines: 30_000, firstDay: '2015-05-17', days: 4 });
const ASK_EVERY_MS = 100;

let service: AccessLogService;
const directory = mkdtempSync(join(tmpdir(), 'access-log-exact-'));
const file = join(directory, 'access.log');

beforeAll(async () => {
  writeFileSync(file, LOG.text);
  service = await startAccessLogService({ workers: 2 });
});
afterAll(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true });
});

async function countEvents(): Promise<number> {
  const [row] = await service.ask('page_view | from 2015-05-17 to 2015-05-22 | count');
  return Number(row?.value);
}

test('three concurrent imports count every line at most once at any time, with a killed worker', async () => {
  const imports = Promise.all([service.import(file), service.import(file), service.import(file)]);
  let isOver = false;
  const stored = imports
    .then(() => service.drained())
    .finally(() => {
      isOver = true;
    });

  let isKilled = false;
  const counts: number[] = [];
  while (!isOver) {
    counts.push(await countEvents());
    if (!isKilled && (counts.at(-1) ?? 0) > 0) {
      // Some rows are stored and more are queued: an insert is very likely running.
      isKilled = true;
      await service.processes.get('worker-2').kill('SIGKILL');
      await service.processes.start('worker', 'worker-2');
    }
    await sleep(ASK_EVERY_MS);
  }
  await stored;

  for (const run of await imports) expect(run).toMatchObject({ status: 0, report: { events: LOG.validLines } });
  expect(isKilled).toBe(true);
  expect(Math.max(...counts)).toBeLessThanOrEqual(LOG.validLines);
  expect(await countEvents()).toBe(LOG.validLines);
}, 360_000);
