import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteBuffers } from './write-buffers.ts';

const mebibyte = 1 << 20;

test('the buffers of an upload grow to a mebibyte, but not beyond the number of bytes that are left', () => {
  const buffers = new WriteBuffers();
  buffers.begin();
  const sizes = [0, 1 << 16, 1 << 18, mebibyte].map((previousSize) => buffers.take(previousSize, 1e9).byteLength);
  assert.deepEqual(sizes, [1 << 16, 1 << 18, mebibyte, mebibyte]);
  assert.equal(buffers.take(mebibyte, 5).byteLength, 5);
});

test('hundreds of uploads share the memory for their buffers, and get large ones again when the others have ended', () => {
  const buffers = new WriteBuffers();
  const ends = Array.from({ length: 640 }, () => buffers.begin());
  assert.equal(buffers.take(mebibyte, 1e9).byteLength, 1 << 16);
  for (const end of [...ends.slice(1), ...ends.slice(1)]) end();
  assert.equal(buffers.take(mebibyte, 1e9).byteLength, mebibyte);
});

test('a buffer that was given back is used again', () => {
  const buffers = new WriteBuffers();
  const buffer = buffers.take(mebibyte, 1e9);
  buffers.giveBack(buffer);
  assert.equal(buffers.take(mebibyte, 1e9), buffer);
  assert.notEqual(buffers.take(mebibyte, 1e9), buffer);
});
