// Import of a gzip file of a million generated events of Mixpanel: records per second, against the
// load generator on the same stack, and the memory of the import.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { packageRoot } from '../src/platform/paths.js';
import { measureLoad } from './ingest.js';
import { atLeast, atMost, type Measurement } from './measurement.js';
import { readCpuMs, readMemory } from './process-usage.js';
import { type BenchContext, countEvents, type Stack, untilCounted, untilMergesRest } from './stack.js';

const SAMPLE_EVERY_MS = 250;
const MEGABYTE = 1_000_000;
const PEOPLE = 50_000;
const LINES_PER_CHUNK = 1000;

export async function benchImport({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const records = isQuick ? 50_000 : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'));
  const file = join(folder, 'export.ndjson.gz');
  try {
    say(`import: writing ${records} records`);
    await pipeline(Readable.from(generateChunks(records)), createGzip({ level: 1 }), createWriteStream(file));
    say('import: reading alone (dry run)');
    const dry = await runImport([file, '--dry-run'], stack);
    say('import: reading and sending');
    const before = await countEvents(stack);
    const cpuBefore = readCpuMs(stack.processes());
    const startedMs = performance.now();
    const real = await runImport([file], stack);
    await untilCounted(stack, before + records);
    const countedMs = performance.now() - startedMs;
    const cpuAfter = readCpuMs(stack.processes());
    await untilMergesRest(stack);
    say('import: the load generator');
    const loadPerSecond = await measureLoad(stack, isQuick ? 4000 : 15_000);
    const perSecond = (elapsedMs: number) => (records * 1000) / elapsedMs;
    return [
      {
        name: 'records per second, until all are counted',
        value: perSecond(countedMs),
        unit: '',
        aim: atLeast(15_000),
      },
      { name: 'of the load generator at 2,000 per request', value: perSecond(countedMs) / loadPerSecond, unit: '' },
      { name: 'records per second of a dry run', value: perSecond(dry.elapsedMs), unit: '' },
      { name: 'CPU of the import per 1,000 records', value: (real.cpuMs * 1000) / records, unit: 'ms' },
      ...[...cpuAfter].map(([name, ms]) => ({
        name: `CPU of ${name} per 1,000 records`,
        value: ((ms - (cpuBefore.get(name) ?? 0)) * 1000) / records,
        unit: 'ms',
      })),
      { name: 'memory (RSS) of the import, most', value: real.rssBytes / MEGABYTE, unit: 'MB', aim: atMost(300) },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface ImportUse {
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Runs an import as a process; throws when it fails. */
async function runImport(args: readonly string[], stack: Stack): Promise<ImportUse> {
  const main = join(packageRoot, 'dist', 'cli', 'import.js');
  const target = ['--url', stack.url, '--key', stack.secretKey];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [main, 'mixpanel', ...args, ...target], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const watched = watch(child);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`the import ended with status ${status}`);
  return { elapsedMs: performance.now() - startedMs, ...watched() };
}

/** Samples a process until its last use is asked for. */
function watch(child: ChildProcess): () => Pick<ImportUse, 'cpuMs' | 'rssBytes'> {
  const watched = [{ name: 'import', pid: child.pid ?? 0 }];
  const use = { cpuMs: 0, rssBytes: 0 };
  const timer = setInterval(() => {
    use.cpuMs = Math.max(use.cpuMs, readCpuMs(watched).get('import') ?? 0);
    use.rssBytes = Math.max(use.rssBytes, readMemory(watched).get('import')?.rssBytes ?? 0);
  }, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return use;
  };
}

/** Events of the last 30 days, without links, which would be measured by the rate of /identify. */
function* generateChunks(records: number): Generator<string> {
  const startSeconds = Math.floor(Date.now() / 1000) - 30 * 86_400;
  for (let first = 0; first < records; first += LINES_PER_CHUNK) {
    const count = Math.min(LINES_PER_CHUNK, records - first);
    yield Array.from({ length: count }, (_, index) => generateLine(first + index, records, startSeconds)).join('');
  }
}

function generateLine(number: number, records: number, startSeconds: number): string {
  const person = (number * 7919) % PEOPLE;
  const properties = {
    time: startSeconds + Math.floor((number / records) * 30 * 86_400),
    distinct_id: `$device:device-${person}`,
    $device_id: `device-${person}`,
    $insert_id: `insert-${number}`,
    $browser: 'Chrome',
    $browser_version: 119,
    $city: 'Berlin',
    $current_url: `https://shop.example/products/${number % 1000}?utm_source=news`,
    $os: 'Mac OS X',
    $referrer: 'https://search.example/',
    $referring_domain: 'search.example',
    $region: 'Berlin',
    $screen_height: 1080,
    $screen_width: 1920,
    mp_country_code: 'DE',
    mp_lib: 'web',
    price: (number % 9973) / 100,
    plan: number % 3 === 0 ? 'pro' : 'free',
  };
  return `${JSON.stringify({ event: number % 4 === 0 ? 'purchase' : 'product viewed', properties })}\n`;
}
