// Builds the browser script: `node clients/browser/build.mjs <folder>` writes service.js and its
// source map there.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const FOLDER = dirname(fileURLToPath(import.meta.url));
// Supported by all browsers since autumn 2020.
const TARGET = 'es2021';

/** Returns the minified script and its source map. */
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
    // Mangle only internal property names: none of the wire format, the options or the browser API.
    mangleProps: /^(?:assignmentId|variant|weight|json|route)$/,
    write: false,
  });
  // Second pass: all modules are one scope, so constants are inlined across modules. A block with
  // `let` declarations keeps names out of the page without a wrapping function.
  const minified = await transform(`{${bundled.outputFiles[0]?.text.replace(/^( *)var /gm, '$1let ')}}`, {
    minify: true,
    target: TARGET,
    sourcemap: 'external',
    sourcefile: 'service.js',
  });
  return { script: minified.code.trimEnd(), map: minified.map };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , target = 'dist/public'] = process.argv;
  const { script, map } = await buildBrowserScript();
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'service.js'), script);
  writeFileSync(join(target, 'service.js.map'), map);
}
