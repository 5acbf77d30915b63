// Imports over the public API. Answers about an access log are compared with counts from awk and
// from the databases of browsers and addresses, those about exports of other products with what the
// fixtures of their mappings say.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isbot } from 'isbot';
import { Reader, type Response } from 'maxmind';
import { UAParser } from 'ua-parser-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findInput } from '../../src/imports/input/input-files.js';
import { type ImportOptions, runImport } from '../../src/imports/run-import.js';
import type { Mapped } from '../../src/imports/source.js';
import { findSource } from '../../src/imports/sources/table.js';
import { toReport } from '../../src/imports/summary.js';
import { packageRoot } from '../../src/platform/paths.js';
import { type AccessLogCounts, countWithAwk, regroup } from '../support/access-log-counts.js';
import { generateAccessLog } from '../support/access-log-generator.js';
import {
  type AccessLogService,
  GEOGRAPHY_DATABASES,
  type ImportRun,
  type Row,
  startAccessLogService,
} from '../support/access-log-service.js';
import { eventually } from '../support/eventually.js';
import { eventsOf, mapTogether, peopleOf } from '../support/imports.js';

const REAL_LOG = join(packageRoot, '..', 'shared', 'data', 'apache_access.log');
const RANGE = 'from 2015-05-17 to 2015-05-22';
const DAYS = ['2015-05-17', '2015-05-18', '2015-05-19', '2015-05-20', '2015-05-21'];

const directory = mkdtempSync(join(tmpdir(), 'access-log-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

function writeGeneratedLog(): string {
  const file = join(directory, 'generated.log');
  writeFileSync(file, generateAccessLog({ seed: 20150517, lines: 6000, firstDay: '2015-05-17', days: 4 }).text);
  return file;
}

describe('import of a generated access log', () => {
  const service = describeLog(writeGeneratedLog());
  describe('and of exports of other products', () => describeExports(service));
});

if (existsSync(REAL_LOG)) {
  describe('import of apache_access.log', () => void describeLog(REAL_LOG));
} else {
  test.skip(`import of apache_access.log: skipped, because ${REAL_LOG} does not exist`, () => undefined);
}

/** Returns the service, once it runs. */
function describeLog(file: string): () => AccessLogService {
  let service: AccessLogService;
  let counts: AccessLogCounts;
  let imported: ImportRun;

  beforeAll(async () => {
    counts = await countWithAwk(file);
    service = await startAccessLogService({ workers: 1 });
    imported = await service.import(file);
    await service.drained();
  });
  afterAll(() => service?.stop());

  const ask = (stages: string) => service.ask(`page_view | ${RANGE} | ${stages}`);

  test('sends every line, and counts lines that cannot be parsed', () => {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '').length;
    expect(imported).toMatchObject({
      status: 0,
      report: { read: lines, events: counts.events, skipped: lines - counts.events },
    });
  });

  test('gives events by day', async () => {
    const rows = await ask('count by day');
    expect(toCounts(rows, 'day')).toEqual(new Map(DAYS.map((day) => [day, counts.byDay.get(day) ?? 0])));
  });

  test('gives the top 10 paths', async () => {
    const rows = await ask('count by _path | top 10');
    const expected = [...counts.byPath].sort(byCountThenName).slice(0, 10);
    expect(rows.map((row) => [row._path, row.count])).toEqual(expected);
  });

  test('gives the share of bots by browser', async () => {
    const rows = await ask('count by _browser, _device_type');
    const bots = rows.filter((row) => row._device_type === 'bot');
    const people = rows.filter((row) => row._device_type !== 'bot');
    const botEvents = regroup(counts.byUserAgent, (agent) => (isBotAgent(agent) ? 'bot' : undefined)).get('bot');
    expect(sumOf(bots) / sumOf(rows)).toBe((botEvents ?? 0) / counts.events);

    // Crawlers whose user agents all contain the same name.
    const names = ['Googlebot', 'bingbot', 'AhrefsBot', 'YandexBot', 'Baiduspider'];
    const named = regroup(counts.byUserAgent, (agent) => names.find((name) => agent.includes(`${name}/`)));
    expect(named.size).toBeGreaterThan(1);
    const shown = bots.filter((row) => names.includes(String(row._browser)));
    expect(toCounts(shown, '_browser')).toEqual(named);

    const browsers = regroup(counts.byUserAgent, (agent) =>
      isBotAgent(agent) ? undefined : (new UAParser(agent).getBrowser().name ?? null),
    );
    expect(sumBy(people, '_browser')).toEqual(browsers);
  });

  test.skipIf(GEOGRAPHY_DATABASES.length === 0)('gives events by country', async () => {
    const rows = await ask('count by _country');
    expect(toCounts(rows, '_country')).toEqual(regroup(counts.byAddress, createCountryLookup()));
  });

  test('gives errors by hour', async () => {
    const rows = await ask('where event_properties.status >= 400 | count by hour');
    expect(rows).toHaveLength(DAYS.length * 24);
    const hours = toCounts(
      rows.filter((row) => row.count !== 0),
      'hour',
    );
    expect(hours).toEqual(counts.errorsByHour);
  });

  test('gives unique devices', async () => {
    const rows = await ask('unique device_id');
    expect(rows[0]?.value).toBe(counts.devices);
  });

  test('adds nothing when repeated', async () => {
    const again = await service.import(file);
    expect(again.report).toEqual({ ...imported.report, stored: 0 });
    await service.drained();
    const [row] = await ask('count');
    expect(row?.value).toBe(counts.events);
  });

  test('gets its hostname by a second import, and none counts twice', async () => {
    const totals = async () => [
      await ask('count by day'),
      await ask('unique device_id'),
      await ask('count by _country'),
    ];
    const before = await totals();
    const hosts: unknown[] = [];
    for (const site of ['https://shop.example', 'https://other.example']) {
      const mending = await service.run('access-log', file, '--site', site);
      expect(mending).toMatchObject({ status: 0, report: { events: counts.events } });
      await service.drained();
      expect(await totals()).toEqual(before);
      const byHost = toCounts(await ask('count by _hostname'), '_hostname');
      hosts.push(byHost.get('shop.example'));
      expect(byHost.has('other.example')).toBe(false);
    }
    expect(Number(hosts[0])).toBeGreaterThan(0);
    expect(hosts[1]).toBe(hosts[0]);
    const pages = await ask('count by _path, _hostname');
    expect(pages.filter(({ _path, _hostname }) => _path !== null && _hostname === null)).toEqual([]);
  }, 360_000);
  return () => service;
}

const FIXTURES = join(packageRoot, 'test', 'unit', 'imports', 'sources', 'fixtures');
const EXPORTS: readonly (readonly [source: string, files: readonly string[]])[] = [
  ['mixpanel', ['mixpanel.ndjson']],
  ['amplitude', ['amplitude.ndjson']],
  ['posthog', ['posthog.ndjson', 'posthog.parquet']],
  ['segment', ['segment.ndjson']],
  ['ga4', ['ga4.ndjson']],
  ['umami', ['umami.csv', 'umami.sql', 'umami-event-data.csv']],
  ['snowplow', ['snowplow.tsv']],
  ['matomo', ['matomo.txt']],
];
const EXPORT_RANGE = 'from 2000-01-01 to 2027-01-01';

function describeExports(running: () => AccessLogService): void {
  const sources = EXPORTS.map(([name, files]) => ({ name, paths: files.map((file) => join(FIXTURES, file)) }));
  const importAll = () => Promise.all(sources.map(({ name, paths }) => running().run(name, ...paths)));
  const askPeople = (name: string) =>
    running().ask(`* | ${EXPORT_RANGE} | where _library contains " ${name}" | count by event_type, distinct_id`);

  test('twice is once, as the dry run says, with the people of the source', async () => {
    const dry = await Promise.all(sources.map(dryRun));
    const [mixpanel] = sources;
    const single = await running().run('mixpanel', ...(mixpanel?.paths ?? []), '--dry-run');
    expect([single.status, single.stdout, await askPeople('mixpanel')]).toEqual([0, dry[0], []]);
    for (const isFirst of [true, false]) {
      const runs = await importAll();
      await running().drained();
      for (const [index, { name, paths }] of sources.entries()) {
        const { status, stdout, report } = runs[index] ?? {};
        expect([name, status, withoutEnd(stdout)]).toEqual([name, 0, withoutEnd(dry[index])]);
        const expected = countPeople(await mapFiles(name, paths));
        const events = isFirst ? [...expected.values()].reduce((sum, count) => sum + count, 0) : 0;
        expect([name, report?.stored]).toEqual([name, events]);
        await eventually(async () => {
          const rows = (await askPeople(name)).map((row) => [`${row.event_type} of ${row.distinct_id}`, row.count]);
          expect([name, new Map(rows as [string, number][])]).toEqual([name, expected]);
        });
      }
    }
    for (const report of dry) expect(report).toMatch(BROKEN_LINE);
    await eventually(async () => {
      const [ann] = await running().ask(`users | ${EXPORT_RANGE} | where user_id = "ann@shop.example"`);
      expect(ann).toMatchObject({ properties: { plan: 'pro', email: 'ann@shop.example' } });
    });
  }, 360_000);

  test('an import that is interrupted goes on where it is started again', async () => {
    // Another attempt must not find the events of this one.
    const event = `interrupted_${Date.now()}`;
    const line = (n: number) =>
      JSON.stringify({
        event,
        properties: { time: 1_600_000_000 + n, distinct_id: 'i', $insert_id: n },
      });
    const text = Array.from({ length: 5000 }, (_, n) => `${line(n)}\n`).join('');
    const count = async () => Number((await running().ask(`${event} | ${EXPORT_RANGE} | count`))[0]?.value);
    // The last batch is not full.
    const someStored = () => eventually(async () => expect(await count()).toBe(4000), 60_000);

    const { status, stderr } = await running().interrupt('mixpanel', text, someStored);
    expect([status, stderr]).toEqual([130, expect.stringContaining('run the same command again to go on')]);
    const file = join(directory, 'interrupted.ndjson');
    writeFileSync(file, text);
    expect(await running().run('mixpanel', file)).toMatchObject({ status: 0, report: { events: 5000 } });
    await running().drained();
    expect(await count()).toBe(5000);
  }, 240_000);
}

/** Each fixture has a line in the middle that cannot be read. */
const BROKEN_LINE = /^ {2}[12] not (?:JSON|CSV|an enriched event).*: \S+:\d+(?:, \S+:\d+)*$/m;

/** The report of a dry run. It needs no process of its own. */
async function dryRun({ name, paths }: { name: string; paths: readonly string[] }): Promise<string> {
  const { files } = await findInput(paths, { stdin: process.stdin });
  const open = openSource(name);
  const summary = await runImport(files, { open, clients: undefined, library: '', nowMs: Date.now() });
  return toReport(summary, { isDryRun: true });
}

function openSource(name: string): ImportOptions['open'] {
  const source = findSource(name);
  if (source === undefined) throw new Error(`no source ${name}`);
  return source.open({ site: undefined, timeZone: undefined });
}

/** Up to what only a real run or only a dry run says. */
const withoutEnd = (text = ''): string => text.replace(/\n(?:stored|dry run)\b[\s\S]*/, '');

async function mapFiles(name: string, paths: readonly string[]): Promise<readonly Mapped[]> {
  const open = openSource(name);
  const { files } = await findInput(paths, { stdin: process.stdin });
  return mapTogether(open, files);
}

/** Valid events by type and person; equal keys count once. */
function countPeople(mapped: readonly Mapped[]): Map<string, number> {
  const events = eventsOf(mapped);
  const people = peopleOf(mapped);
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  for (const [index, { event_type: type, insert_id: id, timeMs = 0 }] of events.entries()) {
    const key = `${type} ${timeMs} ${id}`;
    if (timeMs < Date.UTC(2000, 0, 1) || timeMs > Date.now() || seen.has(key)) continue;
    seen.add(key);
    const label = `${type} of ${people[index]?.[1] ?? null}`;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}

const isBotAgent = (agent: string): boolean => agent !== '-' && (isbot(agent) || /CFNetwork\//.test(agent));

function createCountryLookup(): (address: string) => string | null {
  const readers = GEOGRAPHY_DATABASES.map((path) => new Reader<Response>(readFileSync(path)));
  return (address) => {
    const reader = readers[address.includes(':') ? 1 : 0];
    const record = reader?.get(address) as { country_code?: string } | null | undefined;
    return record?.country_code ?? null;
  };
}

const toCounts = (rows: readonly Row[], field: string) => new Map(rows.map((row) => [row[field], row.count]));

function sumBy(rows: readonly Row[], field: string): Map<unknown, number> {
  const sums = new Map<unknown, number>();
  for (const row of rows) sums.set(row[field], (sums.get(row[field]) ?? 0) + Number(row.count));
  return sums;
}

const sumOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + Number(row.count), 0);

function byCountThenName([nameA, countA]: [string, number], [nameB, countB]: [string, number]): number {
  return countB - countA || (nameA < nameB ? -1 : 1);
}
