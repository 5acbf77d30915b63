// Bundles each long-running process of the Procfile, and each task of its threads, with its
// packages into dist/processes, after the compiler: Node then reads a few files instead of 1,500,
// which more than halves the CPU time of a start. Commands run the compiled modules in dist.
// dist/processes is a link to the folder of the newest build: a process that runs still loads its
// own files, some of them hours after its start, while a command builds newer sources.
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { isRunning } from './setup.mjs';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const LINK = join(DIST, 'processes');
const BUILDS = join(DIST, 'builds');
const FOLDER = join(BUILDS, String(Date.now()));
/** Renamed when it is complete, so that a build that breaks off does not count as a kept one. */
const UNFINISHED = `${FOLDER}.unfinished`;
/** Builds before the newest, beside those that a running process has marked. */
const KEPT_BUILDS = 2;
/** As src/platform/used-build.ts writes it. */
const MARK = /^used-by-(\d+)$/;

/** The compiled entry of each process, by its name in the Procfile. */
const PROCESSES = {
  web: 'src/api/main.js',
  query: 'src/query-api/main.js',
  worker: 'workers/main.js',
  // Of `npm start`.
  prepare: 'standalone/prepare.js',
  ...(isInstalled('oidc-provider') && { 'sign-in': 'standalone/sign-in-provider/main.js' }),
};

/** Modules with tasks for threads, and the entry of threads: thread-pool.ts knows these names. */
const threads = readdirSync(join(DIST, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.js'))
  .map((path) => join('src', path))
  .filter((path) => readFileSync(join(DIST, path), 'utf8').includes('module: import.meta.url'))
  .concat('src/platform/threads/thread.js', 'src/imports/upload/thread.js');

const entries = {
  ...PROCESSES,
  ...Object.fromEntries(threads.map((path) => [path.replace(/\.js$/, '').replaceAll(sep, '-'), path])),
};

// Packages that others load when they are installed, which they are not.
const OPTIONAL = [
  ...['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg-native', 'pg-query-stream', 'sqlite3', 'tedious'],
  ...['@hapi/hapi', '@valkey/valkey-glide', 'hapi', 'request-logs', 'supports-color'],
];

/** Where the bundle is, in each chunk. */
const BANNER =
  "import { dirname as dirnameOfBundle } from 'node:path';\nconst bundleFolder = dirnameOfBundle(import.meta.filename);";

/** A module still finds the files beside its own. */
const keepPlaces = {
  name: 'keep-places',
  /**
   * @param {string} code
   * @param {string} id
   */
  transform(code, id) {
    if (!/\b(?:import\.meta\.url|__dirname|__filename)\b/.test(code)) return null;
    const path = (/** @type {string} */ file) => `(bundleFolder + ${JSON.stringify(`/${relative(FOLDER, file)}`)})`;
    const placed = code
      .replaceAll('import.meta.url', `new URL(${JSON.stringify(relative(FOLDER, id))}, import.meta.url).href`)
      .replace(/\b__dirname\b/g, path(dirname(id)))
      .replace(/\b__filename\b/g, path(id));
    // No line has moved.
    return { code: placed, map: null };
  },
};

/**
 * pg looks for the runtime of Cloudflare by a Response, for which Node 20 loads its whole HTTP
 * client: 4 % of the CPU time of a start.
 */
const withoutCloudflare = {
  name: 'without-cloudflare',
  isDone: false,
  /**
   * @param {string} code
   * @param {string} id
   */
  transform(code, id) {
    if (!id.endsWith(join('pg', 'lib', 'stream.js'))) return null;
    const question = "typeof Response === 'function'";
    if (!code.includes(question)) throw new Error(`${id} no longer asks ${question}: remove this step of the bundle`);
    withoutCloudflare.isDone = true;
    return { code: code.replace(question, 'false'), map: null };
  },
  generateBundle() {
    if (!withoutCloudflare.isDone) throw new Error('pg has no lib/stream.js any more: remove this step of the bundle');
  },
};

/**
 * ASCII alone: V8 keeps a text with any other character in two bytes per character, and decodes it
 * more slowly, which takes 15 % of the CPU time of a start.
 */
const escapeNonAscii = {
  name: 'escape-non-ascii',
  /**
   * After the printer, which would write the characters again.
   * @param {unknown} _options
   * @param {import('rolldown').OutputBundle} output
   */
  generateBundle(_options, output) {
    for (const chunk of Object.values(output)) {
      if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/(\\*)([^\0-\x7f])/g, toEscape);
    }
  },
};

/**
 * A backslash in front of such a character has no meaning of its own. Only a text of String.raw is
 * changed by it; those are parts of regular expressions, which mean the same.
 * @param {string} _found
 * @param {string} backslashes
 * @param {string} unit
 */
const toEscape = (_found, backslashes, unit) =>
  `${backslashes.slice(backslashes.length % 2)}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(DIST, path)])),
  platform: 'node',
  // depd, of packages that the local sign-in uses.
  checks: { eval: false },
  external: (id) => OPTIONAL.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [keepPlaces, withoutCloudflare, escapeNonAscii],
});
await bundle.write({
  dir: UNFINISHED,
  format: 'esm',
  sourcemap: true,
  banner: BANNER,
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
publish();

function publish() {
  renameSync(UNFINISHED, FOLDER);
  const link = `${LINK}.new`;
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(LINK), FOLDER), link);
  // A folder is what builds wrote before.
  if (lstatSync(LINK, { throwIfNoEntry: false })?.isDirectory()) rmSync(LINK, { recursive: true });
  renameSync(link, LINK);
  const names = readdirSync(BUILDS);
  const builds = names.filter((name) => /^\d+$/.test(name)).sort((one, other) => Number(other) - Number(one));
  const kept = builds.filter((name, age) => age <= KEPT_BUILDS || isUsed(name));
  for (const name of names) if (!kept.includes(name)) rmSync(join(BUILDS, name), { recursive: true });
}

function isUsed(build) {
  return readdirSync(join(BUILDS, build)).some((name) => {
    const pid = MARK.exec(name)?.[1];
    return pid !== undefined && isRunning(Number(pid));
  });
}

function isInstalled(name) {
  try {
    return createRequire(import.meta.url).resolve(name) !== '';
  } catch {
    return false;
  }
}
