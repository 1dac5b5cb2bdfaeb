import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { ObjectKeys } from './object-folders.ts';
import { UploadProgress } from './upload-progress.ts';

/**
 * Returns the progress of an upload at a fake service, and the number of pieces sent so far. The service sends `pieces` as the stored
 * progress.
 */
function fakeProgress(pieces: Iterable<string>) {
  const sent = { count: 0 };
  async function* body() {
    for (const piece of pieces) {
      sent.count += 1;
      yield Buffer.from(piece);
    }
  }
  const response = { status: 200, headers: {}, body: body(), read: async () => new Uint8Array(), discard() {} };
  const store = {
    get: async () => response,
    put: async () => true,
    delete: async () => {},
    async *list(prefix: string) {
      yield { objects: [{ key: `${prefix}1000000.rest`, size: 0, modified: 0, etag: '""', mayNeedRestore: false }], prefixes: [] };
    },
    monotonic: () => 0,
  };
  return { progress: new UploadProgress({ store, keys: new ObjectKeys() }, 'token'), sent };
}

test('the progress of an upload is loaded, whatever the size of the pieces that the service sends', async () => {
  const ids = ['"first"', '"\\u00e4"'.repeat(10)];
  for (const size of [1, 10, 1000]) {
    const stored = `${JSON.stringify(ids)}\nrest`;
    const { progress } = fakeProgress(
      Array.from({ length: Math.ceil(stored.length / size) }, (_, n) => stored.slice(n * size, (n + 1) * size)),
    );
    let rest = '';
    const loadedIds = await progress.load(2, 4, async (piece) => {
      rest += Buffer.from(piece).toString();
    });
    assert.deepEqual([loadedIds, rest], [ids, 'rest']);
  }
});

for (const [what, start, more] of [
  ['a list of objects instead of ids', '[', '{},'.repeat(300)],
  ['more ids than the upload has parts', '[', '"",'.repeat(300)],
  ['an id that never ends', '["', 'x'.repeat(900)],
] as const)
  test(`if a service sends ${what} for the progress of an upload, loading stops early and fails`, async () => {
    function* pieces() {
      yield start;
      for (let count = 0; count < 2000; count += 1) yield more;
      yield '""]\n';
    }
    const { progress, sent } = fakeProgress(pieces());
    await assert.rejects(
      progress.load(1, 0, async () => {}),
      StorageUnavailable,
    );
    assert.ok(sent.count < 10, `${sent.count} pieces`);
  });

test('progress is refused if its ids are not a JSON list of texts, or if their number is wrong', async () => {
  for (const line of ['[{}]', '[1]', '["a","b"]', '[]', '["a"', '[["a"]]'])
    await assert.rejects(
      fakeProgress([`${line}\n`]).progress.load(1, 0, async () => {}),
      StorageUnavailable,
    );
});
