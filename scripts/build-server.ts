// Bundles the server into a few files. typebox and kysely are bundled, since the server uses little
// of them. Other packages are loaded from node_modules.
import { globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'build/server');
const threadFiles = globSync('src/adapters/**/*-thread.ts', { cwd: root, exclude: (file) => basename(file) === 'idle-thread.ts' });
const childFiles = globSync('src/adapters/**/*-child.ts', { cwd: root });
const includedModules = /^(?:\.|\/|#|typebox|kysely)/;

/** Returns the options for bundling scripts. Modules that several scripts need are put into files that these scripts share. */
const bundleOf = (files: readonly string[], extension: string): BuildOptions => ({
  cwd: root,
  input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(root, file)])),
  platform: 'node',
  external: (id) => !includedModules.test(id),
  output: { dir: folder, format: 'esm', entryFileNames: `[name].${extension}`, chunkFileNames: 'part-[hash].js', comments: false },
});

rmSync(folder, { recursive: true, force: true });
await build(bundleOf(['src/main.ts', 'src/maintain.ts'], 'js'));
// Each thread and each child process is a single .mjs file. With several files, each thread takes 4 MB more memory; with
// the extension .js, 3 MB more.
for (const file of [...threadFiles, ...childFiles]) await build(bundleOf([file], 'mjs'));
