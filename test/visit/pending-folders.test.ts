import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSegments, rootPath } from '#core/item-path.ts';
import { folderRooms, pendingFolders } from '#features/visits/pending-folders.ts';

const first = { path: parseSegments(['share']) ?? rootPath, prefix: '', depth: 0 };
/** So many subfolders of each of the first two levels. */
function walk(width: number, begin = folderRooms()) {
  const pending = pendingFolders(first, begin());
  const seen: string[] = [];
  for (let folder = pending.next(); folder; folder = pending.next()) {
    assert.equal(
      folder.path
        .slice(1)
        .map((name) => `${name}/`)
        .join(''),
      folder.prefix,
    );
    assert.equal(folder.depth, folder.path.length - 1);
    seen.push(folder.prefix);
    if (folder.depth < 2) for (let index = 0; index < width; index += 1) pending.add(`é ${index}`);
  }
  pending.end();
  return seen;
}

test('folders of an archive are listed in the order of a tree: each with all that lies below it, then the next', () => {
  assert.deepEqual(walk(2), ['', 'é 0/', 'é 0/é 0/', 'é 0/é 1/', 'é 1/', 'é 1/é 0/', 'é 1/é 1/']);
  assert.equal(walk(300).length, 1 + 300 + 300 * 300);
});

/** Finds so many folders in one. */
function findMany(begin: ReturnType<typeof folderRooms>, folders: number) {
  const pending = pendingFolders(first, begin());
  pending.next();
  for (let index = 0; index < folders; index += 1) pending.add(`folder ${index}`);
  return pending;
}
const busy = { says: 'listingBusy' };

test('archives of folders without number leave memory: beyond a bound they are refused until others end', () => {
  const begin = folderRooms();
  const held = Array.from({ length: 3 }, () => findMany(begin, 1_000_000));
  assert.throws(() => findMany(begin, 2_000_000), busy);
  for (const pending of held) pending.end();
  assert.throws(() => findMany(folderRooms(1 << 20), 100_000), busy);
  findMany(begin, 1_000_000);
});

test('an archive of a few thousand folders is sent, whatever others hold', () => {
  const begin = folderRooms(1);
  for (let archive = 0; archive < 100; archive += 1) findMany(begin, 3000);
});
