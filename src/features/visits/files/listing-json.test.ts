import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listingFormatter } from './listing-json.ts';

test('a page that a storage returns again is formatted once', async () => {
  const format = listingFormatter();
  const page = { entries: [{ name: 'a.txt', folder: false, size: 1, modified: 0, etag: '"a"' }], total: 1 };
  const visitor = { address: '192.0.2.1', viewId: 'link' };
  const media = Object.assign(Object.create(null), { byName: () => 'text/plain' });
  const json = await format(visitor, page, media);
  assert.equal(JSON.parse(json.entries.toString())[0].mediaType, 'text/plain');
  assert.equal(await format(visitor, page, media), json);
});
