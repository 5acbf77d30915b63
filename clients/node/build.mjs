// Builds the package's two forms, dist/esm and dist/cjs, with the compiler of the repository.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = dirname(fileURLToPath(import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

function compile(...args) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', FOLDER, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

rmSync(join(FOLDER, 'dist'), { recursive: true, force: true });
compile('--outDir', join(FOLDER, 'dist', 'esm'));
compile(
  ...['--outDir', join(FOLDER, 'dist', 'cjs'), '--module', 'commonjs', '--moduleResolution', 'bundler'],
  ...['--verbatimModuleSyntax', 'false'],
);
mkdirSync(join(FOLDER, 'dist', 'cjs'), { recursive: true });
writeFileSync(join(FOLDER, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
