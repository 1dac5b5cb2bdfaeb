import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallFileCache } from './small-files.ts';

test('the cache counts the memory of long paths, so 32 MiB hold only a few thousand files with such paths', () => {
  const cache = smallFileCache<{ file: number }>().forFolder();
  const pathOf = (file: number) => `${'字'.repeat(4000)}/${file}`;
  for (let file = 0; file < 10_000; file += 1) cache.set(pathOf(file), { file }, 1);
  const files = Array.from({ length: 10_000 }, (_, file) => cache.get(pathOf(file))).filter((file) => file !== null);
  assert.ok(files.length > 3000 && files.length < 4000, `${files.length} files`);
  assert.deepEqual(cache.get(pathOf(9999)), { file: 9999 });
});
