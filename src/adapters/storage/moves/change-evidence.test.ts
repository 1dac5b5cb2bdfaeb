import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeEvidence } from './change-evidence.ts';
import type { ItemServer, ServerEntry } from './item-server.ts';

const unused = () => {
  throw new Error('a sweep does not call this');
};

/** A fake server that lists names in the staging folder, and notes what is deleted. */
function fakeServer(names: Iterable<string>) {
  const [listed, deleted] = [{ count: 0 }, [] as string[]];
  const entryOf = (name: string): ServerEntry => ({ name, folder: false, size: 0, modified: 0, etag: '', isEmpty: true });
  const server: ItemServer = {
    maxWorkTimes: { move: 0, newFile: () => 0 },
    movesAtOnce: true,
    isPart: async () => false,
    ...{ find: unused, readText: unused, writeText: unused, createFolder: unused, createStagingFolder: unused, move: unused },
    async *list() {
      for (const name of names) {
        listed.count += 1;
        yield [entryOf(name)];
      }
    },
    async delete(path) {
      deleted.push(path.at(-1) ?? '');
    },
  };
  return { server, listed, deleted };
}

test('a sweep of a server that lists names without end stops after ten thousand, and deletes those of them that are not in use', async () => {
  function* endless() {
    for (let number = 0; ; number += 1) yield `${number}-data.txt`;
  }
  const { server, listed, deleted } = fakeServer(endless());
  await new ChangeEvidence(server, () => 10_000).sweep(async () => ['0'], 1000);
  assert.equal(listed.count, 10_001);
  assert.equal(deleted.length, 9999);
});

test('a sweep deletes each name once, even if a server lists it again and again, and ignores names that are too long', async () => {
  const { server, deleted } = fakeServer([...Array.from({ length: 500 }, () => 'token-rest'), 'token-data.txt', 'a'.repeat(65)]);
  await new ChangeEvidence(server, () => 10_000).sweep(async () => [], 1000);
  assert.deepEqual(deleted.sort(), ['token-data.txt', 'token-rest']);
});
