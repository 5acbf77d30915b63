// Compresses the files of the build, so that the server need not do so at each start.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);
// The last two levels take ten times as long for a few per cent.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export const compressFiles = (): Plugin => ({
  name: 'compress-files',
  async writeBundle({ dir = '' }, bundle) {
    const texts = Object.values(bundle).filter(({ fileName }) => /\.(?:js|css)$/.test(fileName));
    await Promise.all(
      texts.map(async (file) => {
        const content = file.type === 'chunk' ? file.code : file.source;
        await writeFile(join(dir, `${file.fileName}.br`), await toBrotli(content, BROTLI));
        await writeFile(join(dir, `${file.fileName}.gz`), await toGzip(content, { level: 9 }));
      }),
    );
  },
});
