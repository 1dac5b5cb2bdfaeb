import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'vite';

/** Compresses what was built in a folder: the server hands it out as it is. */
export const compressed = (out: string): Plugin => ({
  name: 'compressed',
  closeBundle() {
    for (const name of readdirSync(join(out, 'assets')).filter((file) => /\.(m?js|css|svg)$/.test(file))) {
      const file = join(out, 'assets', name);
      writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    }
  },
});
