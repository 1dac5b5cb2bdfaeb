import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';

/** Returns the bytes of each file of an archive by name, null for a folder. Checks sizes, checksums, UTF-8 names and no compression. */
export async function zipContents(bytes: Buffer): Promise<Record<string, Buffer | null>> {
  const archive = await fromBufferPromise(bytes, { validateEntrySizes: true, strictFileNames: true, decodeStrings: true });
  const contents: Record<string, Buffer | null> = {};
  for await (const entry of archive.eachEntry()) {
    assert.equal(entry.compressionMethod, 0, 'stored');
    assert.ok(entry.generalPurposeBitFlag & 0x800, 'names in UTF-8');
    const content = await buffer(await archive.openReadStreamPromise(entry));
    assert.equal(crc32(content), entry.crc32, entry.fileName);
    contents[entry.fileName] = entry.fileName.endsWith('/') ? null : content;
  }
  return contents;
}
