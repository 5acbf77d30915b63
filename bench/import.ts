// Import of a gzip file of a million generated events of Mixpanel: records per second, against the
// load generator on the same stack, and the memory of the import. Then a million of each other
// source.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GENERATED_EXPORTS, type GeneratedExport } from './generated-exports.js';
import { type ImportUse, runImport, writeExport } from './import-process.js';
import { measureLoad } from './ingest.js';
import { atLeast, atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, countEvents, type Stack, untilCounted, untilMergesRest } from './stack.js';

const MEGABYTE = 1_000_000;
const SOURCE = 'mixpanel';

export async function benchImport(context: BenchContext): Promise<Measurement[]> {
  context.report(await benchMixpanel(context));
  const { stack, isQuick, say, report } = context;
  for (const generated of GENERATED_EXPORTS.filter(({ source }) => source !== SOURCE)) {
    await untilMergesRest(stack);
    report(await benchSource(stack, generated, { events: isQuick ? 20_000 : 1_000_000, say }));
  }
  return [];
}

async function benchMixpanel({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
  const records = isQuick ? 50_000 : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'));
  try {
    say(`import: writing ${records} records`);
    const generated = GENERATED_EXPORTS.find(({ source }) => source === SOURCE);
    if (generated === undefined) throw new Error(`there is no generated export of ${SOURCE}`);
    const file = await writeExport(generated, records, folder);
    say('import: reading alone (dry run)');
    const dry = await runImport([SOURCE, file, '--dry-run']);
    say('import: reading and sending');
    const cpuBefore = readCpuMs(stack.processes());
    const { countedMs, ...real } = await importAll(stack, { source: SOURCE, file, events: records });
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

/** Until all events are counted. */
async function importAll(
  stack: Stack,
  { source, file, events }: { source: string; file: string; events: number },
): Promise<ImportUse & { readonly countedMs: number }> {
  const before = await countEvents(stack);
  const startedMs = performance.now();
  const use = await runImport([source, file, '--url', stack.url, '--key', stack.secretKey]);
  await untilCounted(stack, before + events);
  return { ...use, countedMs: performance.now() - startedMs };
}

async function benchSource(
  stack: Stack,
  generated: GeneratedExport,
  { events, say }: { events: number; say: (message: string) => void },
): Promise<Measurement[]> {
  const { source, eventsPerRecord = 1 } = generated;
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'));
  try {
    say(`import: ${events} events of ${source}`);
    const file = await writeExport(generated, events / eventsPerRecord, folder);
    const { countedMs, cpuMs } = await importAll(stack, { source, file, events });
    const perSecond = (events * 1000) / countedMs;
    return [
      { name: `${source}: events per second, until all are counted`, value: perSecond, unit: '', aim: atLeast(15_000) },
      { name: `${source}: CPU of the import per 1,000 events`, value: (cpuMs * 1000) / events, unit: 'ms' },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
