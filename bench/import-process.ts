// Runs an import of a generated export as a process, and measures its time, CPU and memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { packageRoot } from '../src/platform/paths.js';
import { type GeneratedExport, generateExport } from './generated-exports.js';
import { readCpuMs, readMemory } from './process-usage.js';

const SAMPLE_EVERY_MS = 250;

/** Writes an export as a gzip file, and resolves with its path. */
export async function writeExport(generated: GeneratedExport, records: number, folder: string): Promise<string> {
  const path = join(folder, `${records}-${generated.file}.gz`);
  await pipeline(Readable.from(generateExport(generated, records)), createGzip({ level: 1 }), createWriteStream(path));
  return path;
}

export interface ImportUse {
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Runs an import; throws when it fails. */
export async function runImport(args: readonly string[]): Promise<ImportUse> {
  const main = join(packageRoot, 'dist', 'cli', 'import.js');
  const startedMs = performance.now();
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
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
