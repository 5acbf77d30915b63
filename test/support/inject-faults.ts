// A fault run as a process. Its seed and its ledger are printed; the seed repeats the run.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/paths.js';

export async function injectFaults<Ledger>(...args: readonly string[]): Promise<{ status: unknown; ledger: Ledger }> {
  const main = join(packageRoot, 'dist', 'faults', 'main.js');
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(printed);
  if (printed === '')
    throw new Error(`the fault run ended with ${status} and no ledger; its seed and its error are above`);
  return { status, ledger: JSON.parse(printed) };
}
