// `npm start`: sets everything up on a fresh clone, then becomes the supervisor of the embedded stack. Plain Node without
// dependencies, and every step is skipped when there is nothing to do.
import { existsSync } from 'node:fs';
import { build, ensureRedis, fail, installDependencies, requireNode } from './setup.mjs';

requireNode();
if (existsSync('.env')) {
  if (process.loadEnvFile === undefined) fail('Reading .env needs Node.js 20.12 or newer.');
  process.loadEnvFile('.env');
}
installDependencies();
if (!process.env.REDIS_URL) ensureRedis();
build();
await import('../dist/standalone/main.js');
