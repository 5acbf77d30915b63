// Build of the console: hashed files in dist/console, and a manifest from which the server writes
// the page. It fails for a module of Node (the parser and the analyzer of src/query run in
// browsers) and for files above their budget (budgets.ts).
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { keepBudgets } from './budgets.ts';
import { compressFiles } from './compress.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

// Whatever the environment says: the tests, too, test what is shipped.
process.env.NODE_ENV = 'production';

/** Libraries that the console loads only when it needs them, or needs only a part of. */
const REPLACED: Readonly<Record<string, string>> = {
  'temporal-polyfill': 'src/language/temporal.ts',
  re2js: 'src/language/patterns.ts',
  'd3-interpolate': 'src/charts/interpolate.ts',
};

const forBrowsers: Plugin = {
  name: 'for-browsers',
  enforce: 'pre',
  resolveId(source, importer) {
    const replacement = REPLACED[source];
    if (replacement !== undefined && importer !== root + replacement) return root + replacement;
    if (source.startsWith('node:')) this.error(`${importer} imports ${source}, which browsers do not have`);
  },
};

const fileOfClass = new Map<string, string>();

/** Names of classes are short, because each is sent twice: two files could have the same. */
function refuseSharedClasses(file: string, classes: Readonly<Record<string, string>>): void {
  for (const name of Object.values(classes)) {
    const other = fileOfClass.get(name) ?? file;
    if (other !== file) throw new Error(`${file} and ${other} have the class ${name}: rename one`);
    fileOfClass.set(name, file);
  }
}

/** One file compresses better than many, and is one request. */
const GROUPS = [
  { name: 'react', test: /node_modules\/(?:react|react-dom|scheduler|@tanstack)\//, priority: 2 },
  // With fewer users of a module, pages would load what only others need.
  { name: 'shared', test: /\/console\/src\//, minShareCount: 12, priority: 1 },
];

export default defineConfig({
  root,
  base: '/public/console/',
  publicDir: false,
  logLevel: 'error',
  plugins: [forBrowsers, keepBudgets(), compressFiles()],
  oxc: { jsx: { runtime: 'automatic' } },
  css: { modules: { generateScopedName: '[local]-[hash:base64:3]', getJSON: refuseSharedClasses } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    assetsDir: '',
    assetsInlineLimit: 0,
    target: 'es2022',
    rollupOptions: {
      input: `${root}src/main.tsx`,
      output: { codeSplitting: { groups: GROUPS } },
    },
  },
});
