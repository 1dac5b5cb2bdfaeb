import { resolve } from 'node:path';
import { defineConfig, type Rolldown } from 'vite';
import { compressAssets } from './compress-assets.ts';

const out = resolve(import.meta.dirname, '../build/console');

// Hides the warning that the directive 'use client' of some libraries is ignored: all code of the console runs in a browser.
const hideDirectiveWarning: NonNullable<Rolldown.RolldownOptions['onwarn']> = (warning, warn) => {
  if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
};

export default defineConfig({
  root: resolve(import.meta.dirname, 'console'),
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'react' } },
  plugins: [compressAssets(out)],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rollupOptions: { onwarn: hideDirectiveWarning },
  },
});
