import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { compressAssets } from './compress-assets.ts';

const visitor = resolve(import.meta.dirname, 'visitor');
const out = resolve(import.meta.dirname, '../build/visitor');

/**
 * Copies files that the PDF viewer loads only when a PDF needs them: character maps, standard fonts, and image decoders
 * in JavaScript.
 */
const pdfParts: Plugin = {
  name: 'pdf-parts',
  closeBundle() {
    const source = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
    for (const part of ['cmaps', 'standard_fonts', 'wasm'])
      cpSync(join(source, part), join(out, 'assets', 'pdf', part), { recursive: true, filter: (file) => !file.endsWith('.wasm') });
  },
};

export default defineConfig({
  root: visitor,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Only the worker that parses Markdown uses this package. Its version for browsers needs a DOM, which a worker does not have.
  resolve: { alias: { 'decode-named-character-reference': createRequire(import.meta.url).resolve('decode-named-character-reference') } },
  plugins: [pdfParts, compressAssets(out)],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { index: join(visitor, 'index.html'), failure: join(visitor, 'failure.css') },
      // The pages that the server itself renders contain the name of this style sheet, so the name has no hash.
      output: { assetFileNames: ({ names }) => (names.includes('failure.css') ? 'assets/failure.css' : 'assets/[name]-[hash][extname]') },
    },
  },
});
