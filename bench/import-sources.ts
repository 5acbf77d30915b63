// Dry runs of a million generated events of every source from a gzip file: events per second, CPU,
// and the memory of the process beside that of a quarter of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GENERATED_IMPORTS, type GeneratedImport } from './generated-exports.js';
import { type ImportUse, runImport, writeExport } from './import-process.js';
import { atLeast, type Measurement } from './measurement.js';
import type { BenchContext } from './stack.js';

const MEGABYTE = 1_000_000;

export async function benchImportSources(context: Omit<BenchContext, 'stack'>): Promise<Measurement[]> {
  for (const generated of GENERATED_IMPORTS) context.report(await measureSource(generated, context));
  return [];
}

async function measureSource(
  { name, files }: GeneratedImport,
  { isQuick, say }: Omit<BenchContext, 'stack'>,
): Promise<Measurement[]> {
  const events = isQuick ? 40_000 : 1_000_000;
  say(`${name}: a quarter of ${events} events, and all`);
  const quarter = await dryRun(files, events / 4);
  const all = await dryRun(files, events);
  return [
    { name: `${name}: events per second`, value: (events * 1000) / all.elapsedMs, unit: '', aim: atLeast(15_000) },
    { name: `${name}: CPU per 1,000 events`, value: (all.cpuMs * 1000) / events, unit: 'ms' },
    { name: `${name}: memory (RSS), most`, value: all.rssBytes / MEGABYTE, unit: 'MB' },
    { name: `${name}: memory (RSS) of a quarter, most`, value: quarter.rssBytes / MEGABYTE, unit: 'MB' },
  ];
}

async function dryRun(files: GeneratedImport['files'], events: number): Promise<ImportUse> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-'));
  try {
    const paths: string[] = [];
    for (const file of files) paths.push(await writeExport(file, events / (file.eventsPerRecord ?? 1), folder));
    return await runImport([files[0].source, ...paths, '--dry-run']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
