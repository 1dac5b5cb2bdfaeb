import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseSegments, rootPath } from '#core/item-path.ts';
import { type NameMemory, nameMemories } from '#features/visits/archives/name-memory.ts';
import { pendingFolders } from '#features/visits/archives/pending-folders.ts';
import { zipDirectory } from '#features/visits/archives/zip-directory.ts';

const first = { path: parseSegments(['share']) ?? rootPath, prefix: '', depth: 0 };
/** Walks a tree with `width` subfolders in each folder of the first two levels. Returns the prefixes in order. */
function walk(width: number, memory = nameMemories()('198.51.100.1')) {
  const pending = pendingFolders(first, memory);
  const prefixes: string[] = [];
  for (let folder = pending.next(); folder; folder = pending.next()) {
    assert.equal(
      folder.path
        .slice(1)
        .map((name) => `${name}/`)
        .join(''),
      folder.prefix,
    );
    assert.equal(folder.depth, folder.path.length - 1);
    prefixes.push(folder.prefix);
    if (folder.depth < 2) for (let index = 0; index < width; index += 1) pending.add(`é ${index}`);
  }
  pending.end();
  return prefixes;
}

test('the folders of an archive are listed depth-first', () => {
  assert.deepEqual(walk(2), ['', 'é 0/', 'é 0/é 0/', 'é 0/é 1/', 'é 1/', 'é 1/é 0/', 'é 1/é 1/']);
  assert.equal(walk(300).length, 1 + 300 + 300 * 300);
});

/** Adds this number of subfolders to one folder. */
function addMany(memory: NameMemory, folders: number) {
  const pending = pendingFolders(first, memory);
  pending.next();
  for (let index = 0; index < folders; index += 1) pending.add(`folder ${index}`);
  return pending;
}
const busy = { messageName: 'listingBusy' };
const [one, another, third] = ['198.51.100.1', '203.0.113.1', '192.0.2.1'] as const;

test('an archive with very many folders is refused if it would exceed the memory for names, until other archives end', () => {
  const createMemory = nameMemories();
  const archives = [one, one, another].map((address) => addMany(createMemory(address), 1_000_000));
  assert.throws(() => addMany(createMemory(third), 2_000_000), busy);
  for (const pending of archives) pending.end();
  assert.throws(() => addMany(nameMemories(1 << 20)(one), 100_000), busy);
  addMany(createMemory(one), 1_000_000);
});

test('the archives of one wide network take at most half of the memory for names, so other wide networks can use the rest', () => {
  const createMemory = nameMemories();
  for (let archive = 0; archive < 2; archive += 1) addMany(createMemory('198.51.100.77'), 1_000_000);
  assert.throws(() => addMany(createMemory(one), 100_000), busy);
  addMany(createMemory(another), 1_000_000);
});

test('an archive of a few thousand folders is accepted even if no shared memory for names is left', () => {
  const createMemory = nameMemories(1);
  for (let archive = 0; archive < 100; archive += 1) addMany(createMemory(one), 3000);
});

test('the ZIP directory of an archive counts towards the memory limit, and its memory is freed at the end', async () => {
  const createMemory = nameMemories(1 << 20);
  const directory = zipDirectory(createMemory(one));
  const entries = Array.from({ length: 2000 }, () => randomBytes(500));
  await assert.rejects(async () => {
    for (const entry of entries) await directory.add(entry);
  }, busy);
  directory.end();
  const next = zipDirectory(createMemory(one));
  for (const entry of entries.slice(0, 900)) await next.add(entry);
  const pieces = await Array.fromAsync(next.pieces(), (piece) => Buffer.from(piece));
  assert.deepEqual(Buffer.concat(pieces), Buffer.concat(entries.slice(0, 900)));
});
