// `npm run bench`: installs and builds what is missing, then runs the benchmarks.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { answerHelp } from './help.mjs';
import { ensureRedis, installDependencies, requireNode } from './setup.mjs';

answerHelp('tools/bench.mjs');
requireNode();
installDependencies();
await ensureRedis();
build();
const main = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'bench', 'main.js');
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
