// A fault run that is interrupted: it ends its stack, its second worker and its servers, and leaves
// no folder and no mount.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { eventually } from '../support/eventually.js';

/** The process and all that it has started, directly or not. */
function treeOf(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }));
  const tree = [root];
  for (const pid of tree) tree.push(...parents.filter(({ parent }) => parent === pid).map((child) => child.pid));
  return tree;
}

/** Undefined for a process that has ended, also while its parent has not taken note of it. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] =
      readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
        .split(') ')
        .at(-1)
        ?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

test.each([[[]], [['--shards', '2']]])(
  'npm run faults %j that is interrupted leaves nothing behind',
  {
    timeout: 240_000,
  },
  async (args) => {
    const folder = mkdtempSync(join(tmpdir(), 'event-analytics-e2e-'));
    const child = spawn(process.execPath, [join(packageRoot, 'dist', 'faults', 'main.js'), ...args], {
      env: { PATH: process.env.PATH, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'close');
    try {
      let said = '';
      child.stderr.on('data', (text) => (said += text));
      // The second worker runs, too: faults begin after its start.
      await eventually(() => expect(said).toMatch(/^ +\d+\.\d s {2}\w/m), 120_000);
      const started = treeOf(Number(child.pid));
      expect(started.length).toBeGreaterThan(5);
      child.kill('SIGINT');
      expect(await ended).toEqual([1, null]);
      expect(readdirSync(folder)).toEqual([]);
      await eventually(() => expect(started.filter((pid) => parentOf(pid) !== undefined)).toEqual([]));
    } finally {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
