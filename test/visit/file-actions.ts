import assert from 'node:assert/strict';
import type { TestPostern } from '../start.ts';
import { createShare, jsonPostRequest } from './visiting.ts';

/** Checks the actions of a visitor at a location, except visit and view. */
export async function checkFileActions(postern: TestPostern, location = 'local'): Promise<void> {
  const { base } = await createShare(postern, { location });
  const text = 'a text that needs several pieces'.repeat(100);
  assert.equal((await postern.visit(`${base}/folder/box`, { method: 'POST' })).status, 201);
  assert.equal((await postern.visit(`${base}/file/box/doc.txt`, { method: 'PUT', body: text })).status, 201);
  const { body, headers } = await postern.visit(`${base}/file/box/doc.txt`);
  assert.equal(body, text);
  const range = await postern.visit(`${base}/file/box/doc.txt`, { headers: { range: 'bytes=1000-2999' } });
  assert.deepEqual([range.status, range.body], [206, text.slice(1000, 3000)]);
  const etag = String(headers.get('etag'));
  // A weak ETag of a file that has just changed is refused.
  const replaceWith = (tag: string) =>
    postern.visit(`${base}/file/box/doc.txt`, { method: 'PUT', body: 'new', headers: { 'if-match': tag } });
  assert.equal((await replaceWith(etag.startsWith('W/') ? '*' : etag)).status, 201);
  assert.equal((await replaceWith(etag)).status, 412);
  assert.equal((await postern.visit(`${base}/zip`)).status, 200);
  assert.equal((await postern.visit(`${base}/rename`, jsonPostRequest({ path: 'box', name: 'moved' }))).status, 200);
  const { entries } = (await postern.visit(`${base}/list/moved`)).body;
  assert.deepEqual(
    entries.map(({ name, size }: { name: string; size: number }) => [name, size]),
    [['doc.txt', 3]],
  );
  assert.equal((await postern.visit(`${base}/file/moved`, { method: 'DELETE' })).status, 204);
  assert.deepEqual((await postern.visit(`${base}/list`)).body.entries, []);
}
