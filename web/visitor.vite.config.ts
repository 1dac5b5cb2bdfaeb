import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const visitor = resolve(import.meta.dirname, 'visitor');
const out = resolve(import.meta.dirname, '../build/visitor');

/** Letters and fonts that a PDF may name without holding them; the viewer asks for each when it is needed. */
const pdfParts: Plugin = {
  name: 'pdf-parts',
  closeBundle() {
    const source = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
    for (const part of ['cmaps', 'standard_fonts', 'wasm'])
      cpSync(join(source, part), join(out, 'assets', 'pdf', part), { recursive: true, filter: (file) => !file.endsWith('.wasm') });
  },
};

/** The server hands out what is compressed beforehand. */
const compressed: Plugin = {
  name: 'compressed',
  closeBundle() {
    for (const name of readdirSync(join(out, 'assets')).filter((file) => /\.(m?js|css|svg)$/.test(file))) {
      const file = join(out, 'assets', name);
      writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    }
  },
};

export default defineConfig({
  root: visitor,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [pdfParts, compressed],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { index: join(visitor, 'index.html'), failure: join(visitor, 'failure.css') },
      // Pages that the server writes name their style without a hash.
      output: { assetFileNames: ({ names }) => (names.includes('failure.css') ? 'assets/failure.css' : 'assets/[name]-[hash][extname]') },
    },
  },
});
