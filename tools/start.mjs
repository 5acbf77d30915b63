// `npm start`: sets everything up on a fresh clone, then becomes the supervisor of the embedded stack. Plain Node without
// dependencies, and every step is skipped when there is nothing to do. `npm start -- --yes` asks no question.
import { existsSync } from 'node:fs';
import { build, confirmOnTerminal, ensureRedis, fail, installDependencies, requireNode } from './setup.mjs';

requireNode();
const isConfirmed = process.argv.includes('--yes');
process.argv = process.argv.filter((option) => option !== '--yes');
if (existsSync('.env')) {
  if (process.loadEnvFile === undefined) fail('Reading .env needs Node.js 20.12 or newer.');
  process.loadEnvFile('.env');
}
installDependencies();
if (!process.env.REDIS_URL) await ensureRedis(isConfirmed ? undefined : confirmOnTerminal);
build();
await import('../dist/standalone/main.js');
