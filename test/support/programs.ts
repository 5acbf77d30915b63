// Runs programs that tests need beside Node: Debian packages, which tools/test.mjs installs where
// permitted.
import { spawnSync } from 'node:child_process';

/** Runs to the end. Throws with its output on failure, or with the package to install. */
export function runProgram(command: string, args: readonly string[], debianPackage: string): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${command} is missing: install ${debianPackage}`, { cause: error });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout + stderr;
}
