// Builds the browser script: `node clients/browser/build.mjs <folder>` writes service.js and its source map there.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const FOLDER = dirname(fileURLToPath(import.meta.url));
// What every browser since the autumn of 2020 understands.
const TARGET = 'es2021';

/** The texts of the minified script and of its source map. */
export async function buildBrowserScript() {
  const { version } = JSON.parse(readFileSync(join(FOLDER, '..', '..', 'package.json'), 'utf8'));
  const bundled = await build({
    entryPoints: [join(FOLDER, 'src', 'main.ts')],
    outfile: 'service.js',
    tsconfigRaw: {},
    bundle: true,
    format: 'esm',
    target: TARGET,
    minifySyntax: true,
    sourcemap: 'inline',
    define: { VERSION: JSON.stringify(version) },
    // Names that only the script itself sees: none is on the wire, an option, or the browser's.
    mangleProps: /^(?:assignmentId|variant|weight|json|route)$/,
    write: false,
  });
  // In a second step all modules are one, so their declarations are joined and the constants of one are known in another. A
  // block keeps them from the page: with `let`, it needs no function around it.
  const minified = await transform(`{${bundled.outputFiles[0].text.replace(/^( *)var /gm, '$1let ')}}`, {
    minify: true,
    target: TARGET,
    sourcemap: 'external',
    sourcefile: 'service.js',
  });
  return { script: minified.code.trimEnd(), map: minified.map };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , target] = process.argv;
  const { script, map } = await buildBrowserScript();
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'service.js'), script);
  writeFileSync(join(target, 'service.js.map'), map);
}
