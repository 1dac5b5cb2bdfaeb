// Bundles the server into a few files. typebox and kysely are included, since little of them is used. Other packages stay outside.
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const threadFiles = globSync('src/adapters/**/*-thread.ts', { cwd: root });
const includedModules = /^(?:\.|\/|#|typebox|kysely)/;

await build({
  cwd: root,
  input: Object.fromEntries(
    [['main', 'src/main.ts'], ['maintain', 'src/maintain.ts'], ...threadFiles.map((file) => [basename(file, '.ts'), file])].map(
      ([name, file]) => [name, join(root, file ?? '')],
    ),
  ),
  platform: 'node',
  external: (id) => !includedModules.test(id),
  output: { dir: join(root, 'build/server'), format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'part-[hash].js', cleanDir: true },
});
