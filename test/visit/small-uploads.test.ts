import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Lane } from '../../src/adapters/storage/disk/thread-lane.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare } from './visiting.ts';

test('a small file is stored with one command of a thread, and its ETag does not change when its evidence is deleted', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const put = async (name: string) =>
    assert.equal((await postern.visit(`${base}/file/${name}`, { method: 'PUT', body: 'text' })).status, 201);
  const etagOf = async (name: string) => (await fetch(`${postern.publicUrl}${base}/file/${name}`, { method: 'HEAD' })).headers.get('etag');
  await put('first');
  const run = t.mock.method(Lane.prototype, 'run');
  await put('second');
  const commands = new Set(run.mock.calls.map(({ arguments: [command] }) => command));
  assert.deepEqual([...commands].sort(), ['readFiles', 'storeSmallUpload']);
  const [first, second] = [await etagOf('first'), await etagOf('second')];
  await until(async () => (await readdir(join(postern.files, '.postern'))).length === 0);
  assert.deepEqual([await etagOf('first'), await etagOf('second')], [first, second]);
});

test('forty small uploads at once are all stored, each with its own content, and leave nothing in the staging area', async (t) => {
  const postern = await startPostern(t);
  const { base } = await createShare(postern);
  const names = Array.from({ length: 40 }, (_, index) => `file-${index}`);
  for (let round = 0; round < 2; round += 1) {
    const responses = await Promise.all(names.map((name) => postern.visit(`${base}/file/${name}`, { method: 'PUT', body: name })));
    const expected = round === 0 ? 201 : 409;
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([expected]));
  }
  for (const name of names) assert.equal((await postern.visit(`${base}/file/${name}`)).body, name);
  await until(async () => (await readdir(join(postern.files, '.postern'))).length === 0);
});
