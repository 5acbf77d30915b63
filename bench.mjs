// `npm run bench`: builds, then measures. Kept free of everything that a fresh clone does not have yet.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

// Output of the build goes to stderr, so that `npm run --silent bench > table.txt` holds the table alone.
run('npm', ['run', '--silent', 'build'], {
  stdio: ['ignore', process.stderr, process.stderr],
  shell: process.platform === 'win32',
});
run(process.execPath, [join('dist', 'bench', 'main.js'), ...process.argv.slice(2)]);
