// Import of a gzip file of a million generated events of Mixpanel: records per second, against the
// load generator on the same stack, and the memory of the import.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GENERATED_EXPORTS } from './generated-exports.js';
import { runImport, writeExport } from './import-process.js';
import { measureLoad } from './ingest.js';
import { atLeast, atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import { type BenchContext, countEvents, untilCounted, untilMergesRest } from './stack.js';

const MEGABYTE = 1_000_000;
const SOURCE = 'mixpanel';

export async function benchImport({ stack, isQuick, say }: BenchContext): Promise<Measurement[]> {
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
    const before = await countEvents(stack);
    const cpuBefore = readCpuMs(stack.processes());
    const startedMs = performance.now();
    const real = await runImport([SOURCE, file, '--url', stack.url, '--key', stack.secretKey]);
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
