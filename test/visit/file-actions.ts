import assert from 'node:assert/strict';
import { zipContents } from '../parts/zip-contents.ts';
import type { TestPostern } from '../start.ts';
import { createShare, jsonPostRequest, sendPath } from './visiting.ts';

/** Checks that a folder is listed in each order, and searched. */
async function checkListing(postern: TestPostern, base: string): Promise<void> {
  for (const [name, size] of [
    ['b.txt', 5],
    ['a.bin', 9000],
    ['ab.txt', 0],
  ] as const)
    assert.equal((await postern.visit(`${base}/file/sorted/${name}`, { method: 'PUT', body: 'x'.repeat(size) })).status, 201);
  const names = async (query: string) =>
    (await postern.visit(`${base}/list/sorted${query}`)).body.entries.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(''), ['a.bin', 'ab.txt', 'b.txt']);
  assert.deepEqual(await names('?sortOrder=desc'), ['b.txt', 'ab.txt', 'a.bin']);
  assert.deepEqual(await names('?sortField=size'), ['ab.txt', 'b.txt', 'a.bin']);
  assert.deepEqual(await names('?searchWord=TXT&pageSize=1&startIndex=1'), ['b.txt']);
}

/** Checks the actions of a visitor at a location. */
export async function checkFileActions(postern: TestPostern, location = 'local'): Promise<void> {
  const { base } = await createShare(postern, { location });
  assert.equal((await postern.visit(`${base}/folder/sorted`, { method: 'POST' })).status, 201);
  await checkListing(postern, base);
  assert.equal((await postern.visit(`${base}/file/sorted`, { method: 'DELETE' })).status, 204);
  const text = 'a text that needs several pieces'.repeat(100);
  assert.equal((await postern.visit(`${base}/folder/box`, { method: 'POST' })).status, 201);
  assert.equal((await postern.visit(`${base}/file/box/doc.txt`, { method: 'PUT', body: text })).status, 201);
  const { body, headers } = await postern.visit(`${base}/file/box/doc.txt`);
  assert.equal(body, text);
  const view = await sendPath(postern, `${base}/view/box/doc.txt`);
  assert.deepEqual([view.status, view.text], [200, text]);
  const range = await postern.visit(`${base}/file/box/doc.txt`, { headers: { range: 'bytes=1000-2999' } });
  assert.deepEqual([range.status, range.body], [206, text.slice(1000, 3000)]);
  const etag = String(headers.get('etag'));
  // A weak ETag of a file that has just changed is refused.
  const replaceWith = (tag: string) =>
    postern.visit(`${base}/file/box/doc.txt`, { method: 'PUT', body: 'new', headers: { 'if-match': tag } });
  assert.equal((await replaceWith(etag.startsWith('W/') ? '*' : etag)).status, 201);
  assert.equal((await replaceWith(etag)).status, 412);
  const archive = await sendPath(postern, `${base}/zip`);
  assert.deepEqual((await zipContents(archive.bytes))['box/doc.txt'], Buffer.from('new'));
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'box', name: 'moved' }))).status, 200);
  const { entries } = (await postern.visit(`${base}/list/moved`)).body;
  assert.deepEqual(
    entries.map(({ name, size }: { name: string; size: number }) => [name, size]),
    [['doc.txt', 3]],
  );
  assert.equal((await postern.visit(`${base}/file/moved`, { method: 'DELETE' })).status, 204);
  assert.deepEqual((await postern.visit(`${base}/list`)).body.entries, []);
}
