// `npm run bench`: installs and builds what is missing, then runs the benchmarks.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { answerHelp } from './help.mjs';
import { ensureRedis, installDependencies, ROOT, requireNode } from './setup.mjs';

answerHelp('tools/bench.mjs');
requireNode();
installDependencies();
await ensureRedis();
build();
const main = join(ROOT, 'dist', 'bench', 'main.js');
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status ?? 1);
