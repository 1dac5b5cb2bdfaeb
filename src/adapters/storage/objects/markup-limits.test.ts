import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { MarkupLimits } from './markup-limits.ts';

function check(text: string, pieceLength: number): void {
  const limits = new MarkupLimits();
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += pieceLength) limits.check(bytes.subarray(start, start + pieceLength));
}

const refusedTexts: Readonly<Record<string, string>> = {
  'a long attribute': `<a b="${'&#65;'.repeat(200)}">`,
  'a long attribute with closing brackets': `<a b="${'>'.repeat(100_000)}">`,
  'a long name': `<${'a'.repeat(1000)}>`,
  'a long text': `<a>${'x'.repeat(40_000)}</a>`,
  'a comment': '<a><!-- x --></a>',
  'a CDATA section': '<a><![CDATA[x]]></a>',
  'a document type': '<!DOCTYPE a><a/>',
};
for (const [what, text] of Object.entries(refusedTexts))
  for (const pieceLength of [1, 7, 100_000])
    test(`${what} in pieces of ${pieceLength} bytes is refused before it is parsed`, () => {
      assert.throws(() => check(text, pieceLength), StorageUnavailable);
    });

test('a listing of a bucket is accepted in pieces of any length', () => {
  const key = '%F0%9F%98%80'.repeat(256);
  const list = `<?xml version="1.0"?><L xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${`<C><Key>${key}</Key></C>`.repeat(3)}</L>`;
  for (const pieceLength of [1, 3, 64, 100_000]) check(list, pieceLength);
});
