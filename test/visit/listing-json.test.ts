import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { listingFormatter } from '#features/visits/files/listing-json.ts';
import { mediaTypes } from '../../src/adapters/media/media-types.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const page = (entries: number) => ({
  entries: Array.from({ length: entries }, (_, number) => ({ name: `${number}.pdf`, folder: false, size: 1, modified: 0, etag: '"1"' })),
  total: entries,
});

test('large listings of one network do not block those of other networks, and small listings do not wait', async () => {
  const format = listingFormatter();
  const finishedListings: string[] = [];
  const formatListing = async (address: string, entries: number) => {
    const { count } = await format({ viewId: 'link', address }, page(entries), mediaTypes);
    finishedListings.push(`${address} ${count}`);
  };
  const largeListings = Array.from({ length: 40 }, () => formatListing('198.51.100.1', 10_000));
  await formatListing('203.0.113.1', 10);
  assert.ok(finishedListings.length <= 2, finishedListings.join());
  await formatListing('203.0.113.1', 10_000);
  assert.ok(finishedListings.length < 6, finishedListings.join());
  await Promise.all(largeListings);
});

test('a page that a storage returns twice is formatted once', async () => {
  const format = listingFormatter();
  const visitor = { address: '192.0.2.1', viewId: 'link' };
  const unchangedPage = page(1);
  const json = await format(visitor, unchangedPage, mediaTypes);
  assert.equal(JSON.parse(json.entries.toString())[0].mediaType, 'application/pdf');
  assert.equal(await format(visitor, unchangedPage, mediaTypes), json);
  assert.notEqual(await format(visitor, page(1), mediaTypes), json);
});

test('a listing of thousands of entries is valid JSON with a Content-Length, and HEAD gets the same Content-Length', async (t) => {
  const postern = await startPostern(t);
  const folder = join(postern.files, 'many');
  await mkdir(folder);
  await Promise.all(Array.from({ length: 2500 }, (_, number) => writeFile(join(folder, `é "${number}".txt`), 'x')));
  const { base } = await createShare(postern, { path: '/many' });
  const response = await sendPath(postern, `${base}/list?pageSize=10000`);
  assert.equal(response.json.entries.length, 2500);
  const { entries: _, ...rest } = response.json;
  assert.deepEqual(rest, { path: '/', startIndex: 0, pageSize: 10_000, resultCount: 2500, totalCount: 2500 });
  const { modifiedDateTime, etag, ...first } = response.json.entries[0];
  assert.deepEqual(first, { name: 'é "0".txt', folder: false, size: 1, mediaType: 'text/plain' });
  assert.ok(Date.parse(modifiedDateTime) > 0 && etag.startsWith('"'));
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  const length = Number(response.headers['content-length']);
  assert.ok(length > 1 << 16);
  const head = await sendPath(postern, `${base}/list?pageSize=10000`, { method: 'HEAD' });
  assert.equal(Number(head.headers['content-length']), length);
});
