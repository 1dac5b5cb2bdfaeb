// The server as a few files of JavaScript: typebox and kysely come along, of which little is used; other packages stay outside.
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const threads = globSync('src/adapters/**/*-thread.ts', { cwd: root });
const inside = /^(?:\.|\/|#|typebox|kysely)/;

await build({
  cwd: root,
  input: Object.fromEntries(
    [['main', 'src/main.ts'], ['maintain', 'src/maintain.ts'], ...threads.map((file) => [basename(file, '.ts'), file])].map(
      ([name, file]) => [name, join(root, file ?? '')],
    ),
  ),
  platform: 'node',
  external: (id) => !inside.test(id),
  output: { dir: join(root, 'build/server'), format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'part-[hash].js', cleanDir: true },
});
