import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootPath } from '#core/item-path.ts';
import { walkInSlices } from '#features/visits/archives/folder-walk.ts';
import { nameMemories } from '#features/visits/archives/name-memory.ts';

/** Blocks for 2 ms, as a file system under load does. */
function blockThread(): void {
  for (const start = performance.now(); performance.now() - start < 2; );
}

test('a slice of the listing for an archive ends after a few milliseconds, so that archives of small folders do not wait for those of large ones', async () => {
  async function* entries() {
    for (let number = 0; number < 30; number += 1) {
      blockThread();
      yield [{ name: `file ${number}`, folder: false, size: 1, modified: 0, etag: '"e"' }];
    }
  }
  const storage = {
    traits: { create: 'checked', replace: 'checked', folders: 'prefix', openAhead: 0 },
    stat: async () => null,
    open: async () => null,
    readRun: null,
    list: async () => entries(),
  } as const;
  const clientGone = new AbortController().signal;
  const createNameMemory = () => nameMemories()('192.0.2.1');
  const lengths = [0];
  for await (const item of walkInSlices({ storage, folder: rootPath, names: null, clientGone, createNameMemory }))
    if (item) lengths.push((lengths.pop() ?? 0) + 1);
    else lengths.push(0);
  assert.ok(Math.max(...lengths) <= 5, lengths.join());
});
