// Memory of processes from /proc, of which benchmarks print sums.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { type MemoryUse, readMemory } from '../../../bench/process-usage.js';

const MEBIBYTE = 1024 * 1024;

/** Of a process that holds so many bytes besides what Node.js needs. */
async function memoryHolding(bytes: number): Promise<MemoryUse | undefined> {
  const program = `const held = Buffer.alloc(${bytes}, 1); console.log('holds'); setInterval(() => held, 60_000);`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return readMemory([{ name: 'child', pid: child.pid ?? 0 }]).get('child');
}

test.skipIf(process.platform !== 'linux')('readMemory() tells anonymous memory from mapped files', async () => {
  const [small, large] = await Promise.all([memoryHolding(0), memoryHolding(256 * MEBIBYTE)]);
  expect(large?.anonymousBytes).toBeGreaterThan(256 * MEBIBYTE);
  expect(small?.anonymousBytes).toBeLessThan(256 * MEBIBYTE);
  // Node itself is a file.
  for (const use of [small, large]) expect(use?.anonymousBytes).toBeLessThan(use?.pssBytes ?? 0);
});
