// `npm run build`: compiles the grammar, the service, the browser script and the console into dist.
import { spawnSync } from 'node:child_process';
import { answerHelp } from './help.mjs';

answerHelp('tools/build.mjs');

/** Commands of packages are found by the PATH of npm. */
const STEPS = [
  'node tools/setup.mjs',
  'lezer-generator grammar/query.grammar -o grammar/parser.js',
  'tsc -p tsconfig.build.json',
  'node clients/browser/build.mjs dist/public',
  'vite build --config console/vite.config.ts',
  'node tools/bundle-processes.mjs',
];

for (const step of STEPS) {
  const { status } = spawnSync(step, { shell: true, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
