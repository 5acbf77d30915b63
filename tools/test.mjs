// `npm test`: installs and builds, then runs all tests on engines that they start and remove
// themselves. Further arguments go to vitest: `npm test -- test/integration/track.test.ts`.
import { spawnSync } from 'node:child_process';
import { build } from './build.mjs';
import { answerHelp } from './help.mjs';
import { ensureRedis, ensureTestPrograms, installDependencies, ROOT, requireNode } from './setup.mjs';

answerHelp('tools/test.mjs');
requireNode();
installDependencies();
await ensureRedis();
ensureTestPrograms();
build();
const REPORTERS = ['--reporter=default', '--reporter=./tools/tier-reporter.mjs'];
const args = ['node_modules/vitest/vitest.mjs', 'run', ...REPORTERS, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exit(status ?? 1);
