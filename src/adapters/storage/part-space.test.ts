import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StorageFull } from '#ports/storage.ts';
import { PartSpace, UploadPart } from './part-space.ts';

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parts-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function contentOf(part: UploadPart): Promise<string> {
  const { length, pieces } = part.body();
  const content = Buffer.concat(await Array.fromAsync(pieces));
  assert.equal(content.length, length);
  return content.toString();
}

test('parts that do not fit into the memory continue in files without a name', async (t) => {
  const folder = await temporaryFolder(t);
  const space = new PartSpace({ folder, minFreeSpace: 0, maxMemory: 6 });
  const [first, second] = [new UploadPart(space), new UploadPart(space)];
  for (const chunk of ['abc', 'defg', 'h']) await first.append(Buffer.from(chunk));
  for (const chunk of ['12', '345678', '9']) await second.append(Buffer.from(chunk));
  assert.deepEqual(await readdir(folder), []);
  assert.deepEqual([await contentOf(first), await contentOf(second)], ['abcdefgh', '123456789']);
  assert.equal(await contentOf(second), '123456789');
  await first.clear();
  assert.equal(space.takeMemory(4), true);
  await second.clear();
  assert.equal(await contentOf(second), '');
});

test('a chunk that is reused after it was appended does not change the part', async (t) => {
  const part = new UploadPart(new PartSpace({ folder: await temporaryFolder(t), minFreeSpace: 0 }));
  const chunk = Buffer.from('before');
  await part.append(chunk);
  chunk.write('after!');
  assert.equal(await contentOf(part), 'before');
});

test('a part that needs a file is refused if the disk has less free space than the limit', async (t) => {
  const space = new PartSpace({ folder: await temporaryFolder(t), minFreeSpace: Number.MAX_SAFE_INTEGER, maxMemory: 2 });
  const part = new UploadPart(space);
  await part.append(Buffer.from('ab'));
  await assert.rejects(part.append(Buffer.from('c')), StorageFull);
});
