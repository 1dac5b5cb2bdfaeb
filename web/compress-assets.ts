import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'vite';

/** Writes a Brotli copy of each built script, style sheet and SVG image in `assets`, because the server compresses no asset itself. */
export const compressAssets = (out: string): Plugin => ({
  name: 'compress-assets',
  closeBundle() {
    for (const name of readdirSync(join(out, 'assets')).filter((file) => /\.(m?js|css|svg)$/.test(file))) {
      const file = join(out, 'assets', name);
      writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    }
  },
});
