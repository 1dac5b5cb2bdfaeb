import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallFileCache } from './small-files.ts';

test('files below long paths count with their paths: 32 MiB of memory hold a few thousand of them', () => {
  const kept = smallFileCache<number>().forFolder();
  const pathOf = (file: number) => `${'字'.repeat(4000)}/${file}`;
  for (let file = 0; file < 10_000; file += 1) kept.keep(pathOf(file), file, 1);
  const held = Array.from({ length: 10_000 }, (_, file) => kept.get(pathOf(file))).filter((file) => file !== null);
  assert.ok(held.length > 3000 && held.length < 4000, `${held.length} files`);
  assert.equal(kept.get(pathOf(9999)), 9999);
});
