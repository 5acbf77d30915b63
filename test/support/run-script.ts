// Runs a compiled script of the service to its end, as its own process.
import { spawn } from 'node:child_process';
import { packageRoot } from '../../src/platform/paths.js';

export interface Ended {
  readonly status: number | null;
  /** Both streams, as they came. */
  readonly output: string;
}

/** `command`: a path below the root of the project, and arguments. */
export function runScript(command: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const child = spawn(process.execPath, command, { cwd: packageRoot, env: { PATH: process.env.PATH, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}
