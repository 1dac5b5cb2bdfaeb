import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { diskSpace } from '#adapters/os/disk-probe.ts';
import { StorageFull } from '#ports/storage-errors.ts';
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

const block = 1 << 16; // bytes

test('parts that do not fit into the memory continue in files without a name', async (t) => {
  const folder = await temporaryFolder(t);
  const space = new PartSpace({ folder, minFreeSpace: 0, maxMemory: 2 * block });
  const [first, second] = [new UploadPart(space), new UploadPart(space)];
  const texts = ['a', 'b'.repeat(block), 'c'.repeat(3 * block), 'd'];
  for (const chunk of texts) for (const part of [first, second]) await part.append(Buffer.from(chunk));
  assert.deepEqual(await readdir(folder), []);
  for (const part of [first, second, second]) assert.ok((await contentOf(part)) === texts.join(''));
  await first.clear();
  await second.clear();
  assert.equal(await contentOf(second), '');
  assert.ok(space.takeBlock() && space.takeBlock() && !space.takeBlock());
});

test('a thousand chunks of one byte share one block of memory', async (t) => {
  const space = new PartSpace({ folder: await temporaryFolder(t), minFreeSpace: 0, maxMemory: 2 * block });
  const part = new UploadPart(space);
  for (let index = 0; index < 1000; index += 1) await part.append(Buffer.from('x'));
  assert.equal(await contentOf(part), 'x'.repeat(1000));
  assert.ok(space.takeBlock() && !space.takeBlock());
});

test('overwriting a chunk after it was appended does not change the part', async (t) => {
  const part = new UploadPart(new PartSpace({ folder: await temporaryFolder(t), minFreeSpace: 0 }));
  const chunk = Buffer.from('before');
  await part.append(chunk);
  chunk.write('after!');
  assert.equal(await contentOf(part), 'before');
});

test('parts are refused before they use the space that must stay free, however many wait for space at once', async (t) => {
  const folder = await temporaryFolder(t);
  const { free } = await diskSpace(folder);
  const space = new PartSpace({ folder, minFreeSpace: free - (100 << 20), maxMemory: 0 });
  const parts = Array.from({ length: 64 }, () => new UploadPart(space));
  const results = await Promise.allSettled(parts.map((part) => part.append(Buffer.from('x'))));
  const refusals = results.filter(({ status }) => status === 'rejected');
  assert.ok(refusals.length >= 32, `${refusals.length}`); // each part needs 4 MiB, and 100 MiB may be used
  for (const one of refusals) assert.ok(one.status === 'rejected' && one.reason instanceof StorageFull);
  for (const part of parts) await part.clear();
  const later = new UploadPart(space);
  await later.append(Buffer.from('x'));
  await later.clear();
});
