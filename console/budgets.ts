// Budgets of transferred bytes: the script and style of the first view of each screen, and those of
// Ask with its editor, compressed with gzip. The build fails above them.
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const KIB = 1024;

const SCREENS = 'ask dashboards alerts live people experiments data definitions start settings'.split(' ');

/** Entry modules whose chunks, static imports included, are loaded together. */
const BUDGETS = [
  ...SCREENS.map((screen) => ({
    name: `first view of ${screen}`,
    modules: ['src/main.tsx', `src/${screen}/${screen}.tsx`],
    bytesMax: 150 * KIB,
  })),
  {
    name: 'Ask with its editor and an answer',
    modules: [
      'src/main.tsx',
      'src/ask/ask.tsx',
      'src/answer/picture.tsx',
      'src/editor/editor.ts',
      'src/language/language.ts',
    ],
    bytesMax: 300 * KIB,
  },
];

interface Chunk {
  readonly type: 'chunk';
  readonly fileName: string;
  readonly facadeModuleId: string | null;
  readonly imports: readonly string[];
  readonly code: string;
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> };
}

interface Asset {
  readonly type: 'asset';
  readonly source: string | Uint8Array;
}

type Bundle = Readonly<Record<string, Chunk | Asset>>;

export const keepBudgets = (): Plugin => ({
  name: 'keep-budgets',
  writeBundle(_options, output) {
    const bundle = output as unknown as Bundle;
    for (const { name, modules, bytesMax } of BUDGETS) {
      const bytes = sumOf(bundle, filesOf(bundle, modules));
      const text = `${name}: ${(bytes / KIB).toFixed(1)} KiB of ${bytesMax / KIB} KiB`;
      if (bytes > bytesMax) this.error(`the console is above its budget: ${text}`);
      this.info(text);
      process.stdout.write(`  console, ${text} (gzip)\n`);
    }
  },
});

function filesOf(bundle: Bundle, modules: readonly string[]): ReadonlySet<string> {
  const files = new Set<string>();
  const visit = (fileName: string): void => {
    const chunk = bundle[fileName];
    if (files.has(fileName) || chunk?.type !== 'chunk') return;
    files.add(fileName);
    for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css);
    for (const imported of chunk.imports) visit(imported);
  };
  for (const module of modules) {
    const entry = Object.values(bundle).find(
      (each): each is Chunk => each.type === 'chunk' && each.facadeModuleId?.endsWith(`console/${module}`) === true,
    );
    // A module without a chunk of its own is part of another one, which the budget then contains.
    if (entry) visit(entry.fileName);
  }
  return files;
}

function sumOf(bundle: Bundle, files: ReadonlySet<string>): number {
  let sum = 0;
  for (const file of files) {
    const of = bundle[file];
    if (of) sum += gzipSync(of.type === 'chunk' ? of.code : of.source, { level: 9 }).length;
  }
  return sum;
}
