// Describes the machine of a measurement. Ratios are comparable between machines, absolute figures
// are not.
import { execFileSync } from 'node:child_process';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { packageRoot } from '../src/platform/paths.js';

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Measured commit, with `+` when the work tree has changes. */
  readonly commit: string;
}

export const describeMachine = (): Machine => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  system: `${type()} ${release()} ${arch()}`,
  node: process.version,
  commit: readCommit(),
});

function readCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: packageRoot, encoding: 'utf8' }).trim();
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+')
    );
  } catch {
    return 'unknown';
  }
}
