import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseSegments, rootPath } from '#core/item-path.ts';
import { type NameMemory, nameMemories } from '#features/visits/archives/name-memory.ts';
import { pendingFolders } from '#features/visits/archives/pending-folders.ts';
import { zipDirectory } from '#features/visits/archives/zip-directory.ts';

const first = { path: parseSegments(['share']) ?? rootPath, prefix: '', depth: 0 };
/** So many subfolders of each of the first two levels. */
function walk(width: number, memory = nameMemories()('198.51.100.1')) {
  const pending = pendingFolders(first, memory);
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
function findMany(memory: NameMemory, folders: number) {
  const pending = pendingFolders(first, memory);
  pending.next();
  for (let index = 0; index < folders; index += 1) pending.add(`folder ${index}`);
  return pending;
}
const busy = { messageName: 'listingBusy' };
const [one, another, third] = ['198.51.100.1', '203.0.113.1', '192.0.2.1'] as const;

test('archives of folders without number leave memory: beyond a bound they are refused until others end', () => {
  const begin = nameMemories();
  const held = [one, one, another].map((address) => findMany(begin(address), 1_000_000));
  assert.throws(() => findMany(begin(third), 2_000_000), busy);
  for (const pending of held) pending.end();
  assert.throws(() => findMany(nameMemories(1 << 20)(one), 100_000), busy);
  findMany(begin(one), 1_000_000);
});

test('the archives of one network leave half of the memory for names to those of others', () => {
  const begin = nameMemories();
  for (let archive = 0; archive < 2; archive += 1) findMany(begin('198.51.100.77'), 1_000_000);
  assert.throws(() => findMany(begin(one), 100_000), busy);
  findMany(begin(another), 1_000_000);
});

test('an archive of a few thousand folders is sent, whatever others hold', () => {
  const begin = nameMemories(1);
  for (let archive = 0; archive < 100; archive += 1) findMany(begin(one), 3000);
});

test('the directory of an archive that is packed as it is found counts as it is held, and is given back', async () => {
  const begin = nameMemories(1 << 20);
  const directory = zipDirectory(begin(one));
  const entries = Array.from({ length: 2000 }, () => randomBytes(500));
  await assert.rejects(async () => {
    for (const entry of entries) await directory.add(entry);
  }, busy);
  directory.end();
  const next = zipDirectory(begin(one));
  for (const entry of entries.slice(0, 900)) await next.add(entry);
  const pieces = await Array.fromAsync(next.pieces(), (piece) => Buffer.from(piece));
  assert.deepEqual(Buffer.concat(pieces), Buffer.concat(entries.slice(0, 900)));
});
