import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenAhead } from '#features/visits/archives/open-ahead.ts';
import type { PlacedItem } from '#features/visits/archives/zip-plan.ts';
import type { OpenFile } from '#ports/storage.ts';

const itemsOf = (count: number): PlacedItem[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${index}`, modified: 0, size: 1, etag: '', offset: index }));

/** Returns a storage whose files open only when the test calls `respond`. */
function slowStorage() {
  const [openedNames, closedNames] = [[] as string[], [] as string[]];
  const waiting = new Map<string, PromiseWithResolvers<OpenFile | null>>();
  const fileOf = ({ name, modified, size, etag }: PlacedItem): OpenFile => ({
    entry: { name, modified: modified ?? 0, size, etag, folder: false },
    async *read() {},
    close: async () => void closedNames.push(name),
  });
  return {
    openedNames,
    closedNames,
    open(item: PlacedItem) {
      openedNames.push(item.name);
      const opening = Promise.withResolvers<OpenFile | null>();
      waiting.set(item.name, opening);
      return opening.promise;
    },
    respond: (item: PlacedItem) => waiting.get(item.name)?.resolve(fileOf(item)),
    fail: (item: PlacedItem) => waiting.get(item.name)?.reject(new Error('away')),
  };
}

test('while a file is opened, the next files are opened, too, each once and in order', async () => {
  const [items, storage] = [itemsOf(6), slowStorage()];
  const ahead = new OpenAhead(items, storage.open, () => 2);
  for (const item of items) {
    const opening = ahead.open(item);
    assert.ok(storage.openedNames.length <= Number(item.name) + 3);
    storage.respond(item);
    assert.equal((await opening)?.entry.name, item.name);
  }
  assert.deepEqual(storage.openedNames, ['0', '1', '2', '3', '4', '5']);
});

test('files that were opened ahead and not used are closed, including those that open later', async () => {
  const [items, storage] = [itemsOf(4), slowStorage()];
  const ahead = new OpenAhead(items, storage.open, () => 3);
  const [first, second, third, fourth] = items;
  assert.ok(first && second && third && fourth);
  const opening = ahead.open(first);
  storage.respond(first);
  assert.equal((await opening)?.entry.name, '0');
  storage.respond(second);
  ahead.close();
  storage.respond(third);
  storage.fail(fourth);
  await new Promise(setImmediate);
  assert.deepEqual(storage.closedNames, ['1', '2']);
});

test('a file that cannot be opened ahead fails only when it is used', async () => {
  const [items, storage] = [itemsOf(2), slowStorage()];
  const ahead = new OpenAhead(items, storage.open, () => 1);
  const [first, second] = items;
  assert.ok(first && second);
  const opening = ahead.open(first);
  storage.fail(second);
  await new Promise(setImmediate);
  storage.respond(first);
  assert.equal((await opening)?.entry.name, '0');
  await assert.rejects(ahead.open(second), /away/);
});

test('without files to open ahead, each file is opened when it is used', async () => {
  const [items, storage] = [itemsOf(3), slowStorage()];
  const ahead = new OpenAhead([], storage.open, () => 0);
  for (const item of items) {
    const opening = ahead.open(item);
    storage.respond(item);
    await opening;
  }
  assert.deepEqual(storage.openedNames, ['0', '1', '2']);
});
