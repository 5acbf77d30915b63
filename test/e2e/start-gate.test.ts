// A process that the supervisor starts early waits at its gate, and ends when the supervisor ends.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { START_GATE } from '../../src/platform/start-gate.js';

const LINE = 'start\n';

/** Its settings are read behind the gate, and missing. */
async function runQueryProcess(input: string): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist', 'processes', 'query.js'), START_GATE], {
    env: { PATH: process.env.PATH },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, output };
}

test('a process goes on when its gate opens', async () => {
  const { status, output } = await runQueryProcess(LINE);
  expect(status).toBe(1);
  expect(output).toContain('DATABASE_URL');
});

test('a process whose supervisor has ended before ends without reading its settings', async () => {
  expect(await runQueryProcess('')).toEqual({ status: 0, output: '' });
});
