// `npm test`: sets everything up, then runs all tests on engines that they start and remove themselves. Further arguments go to
// vitest: `npm test -- test/integration/track.test.ts`.
import { spawnSync } from 'node:child_process';
import { build, ensureRedis, ensureTestPrograms, installDependencies, requireNode } from './setup.mjs';

requireNode();
installDependencies();
ensureRedis();
ensureTestPrograms();
build();
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)], {
  cwd: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
  stdio: 'inherit',
});
process.exit(status ?? 1);
