// `npm start`: installs and builds on a fresh clone, then runs the supervisor of the standalone
// stack. Plain Node without dependencies; steps with nothing to do are skipped. `npm start --
// --yes` asks no question.
import { build } from './build.mjs';
import { answerHelp } from './help.mjs';
import { confirmOnTerminal, ensureRedis, installDependencies, readEnvFile, requireNode } from './setup.mjs';

answerHelp('tools/start.mjs');
requireNode();
const isConfirmed = process.argv.includes('--yes');
process.argv = process.argv.filter((option) => option !== '--yes');
for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
// First: its question, or what this account may not install, comes before a minute of downloads.
if (!process.env.REDIS_URL) await ensureRedis(isConfirmed ? undefined : confirmOnTerminal);
installDependencies();
build();
// A computed address: the type check of the tools must not need a build.
await import(new URL('../dist/standalone/main.js', import.meta.url).href);
