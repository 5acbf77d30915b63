// Marks the build in dist/builds whose files this process runs, because it loads some of them days
// after its start: tools/bundle-processes.mjs keeps a build while a process that marked it runs.
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Does nothing in a process that runs no bundle, or that may not write: nothing is built there. */
export function markUsedBuild(): void {
  const folder = dirname(realpathSync(process.argv[1] ?? '.'));
  if (basename(dirname(folder)) !== 'builds') return;
  const mark = join(folder, `used-by-${process.pid}`);
  try {
    writeFileSync(mark, '');
  } catch {
    return;
  }
  process.once('exit', () => rmSync(mark, { force: true }));
}
