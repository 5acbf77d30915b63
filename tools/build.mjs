// The build: compiles the grammar, the service, the browser script and the console into dist, and
// stamps it with its sources. `npm run build` always compiles; other commands compile when a source
// has changed since the stamp. Plain Node, because a fresh clone has no dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { delimiter, join, relative, sep } from 'node:path';
import { answerHelp } from './help.mjs';
import { fail, filesIn, hashOf, isMain, ROOT, step, unlessStamped } from './setup.mjs';

const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.built');
const SOURCES = [
  'src',
  'workers',
  'standalone',
  'cli',
  'packages',
  'grammar',
  'ops',
  'bench',
  'faults',
  'clients/browser',
  'clients/node/src',
  'console',
];
const SETTINGS = [
  'package.json',
  // The bundles contain packages.
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tools/build.mjs',
  'tools/bundle-processes.mjs',
];
const STEPS = [
  'node tools/setup.mjs',
  'lezer-generator grammar/query.grammar -o grammar/parser.js',
  // `npm run check` checks the types, which takes five times the CPU time of compiling.
  'tsc -p tsconfig.build.json --noCheck',
  'node clients/browser/build.mjs dist/public',
  'vite build --config console/vite.config.ts',
  'node tools/bundle-processes.mjs',
];
/** Folders of dist whose files have no source of the same name. */
const BUNDLES = ['public', 'console', 'processes', 'builds'];

/** Compiles when a source has changed since the last build, or always. */
export function build({ always = false } = {}) {
  const inputs = [
    ...SOURCES.flatMap((folder) => filesIn(join(ROOT, folder))),
    ...SETTINGS.map((name) => join(ROOT, name)),
  ]
    .filter((path) => !/parser(\.terms)?\.js$|[\\/]results[\\/]/.test(path))
    .sort();
  const wanted = hashOf(inputs.map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`));
  unlessStamped({ stamp: STAMP, wanted, always }, () => {
    step('Building');
    rmSync(STAMP, { force: true });
    compile();
    removeOrphans();
  });
}

function compile() {
  // Commands of packages.
  const PATH = [join(ROOT, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  for (const command of STEPS) {
    const { status } = spawnSync(command, {
      cwd: ROOT,
      shell: true,
      // To standard error: the output of a command may be evaluated by a shell (npm run keys).
      stdio: ['inherit', 2, 'inherit'],
      env: { ...process.env, PATH },
    });
    if (status !== 0) fail('The build failed; its messages are above.');
  }
}

/**
 * Removes compiled files without a source, which would still be loaded: by knex among the
 * migrations, for example.
 */
function removeOrphans() {
  for (const path of filesIn(DIST).filter(
    (name) => name.endsWith('.js') && !BUNDLES.some((bundle) => relative(DIST, name).startsWith(bundle + sep)),
  )) {
    const source = join(ROOT, relative(DIST, path)).slice(0, -'.js'.length);
    if (existsSync(`${source}.ts`) || existsSync(`${source}.js`)) continue;
    rmSync(path);
    rmSync(`${path}.map`, { force: true });
  }
}

if (isMain('build.mjs')) {
  answerHelp('tools/build.mjs');
  build({ always: true });
}
