import type { Entry } from '#core/listing.ts';
import { ItemChanged, type OpenFile, StorageUnavailable } from '#ports/storage.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** Opens a file. Each read is a request for a range of the version that the entry describes. */
export function openS3File(bucket: S3Bucket, key: string, entry: Entry): OpenFile {
  return {
    entry,
    async *read({ start, end }, signal) {
      if (end < start) return;
      const headers = { range: `bytes=${start}-${end}`, 'if-match': entry.etag };
      const response = await bucket.send('GET', key, { headers, ...(signal ? { signal } : {}) });
      if (response.status !== 206) {
        await response.read(1 << 16).catch(() => {});
        if (response.status < 300) throw new StorageUnavailable('the service ignores ranges');
        throw new ItemChanged('another object has this key now');
      }
      let remaining = end - start + 1;
      try {
        for await (const piece of response.body) {
          signal?.throwIfAborted();
          remaining -= piece.length;
          yield piece;
        }
      } catch (cause) {
        signal?.throwIfAborted();
        throw new StorageUnavailable('the connection to the service was lost', { cause });
      }
      if (remaining !== 0) throw new StorageUnavailable('the service sent a different number of bytes than it announced');
    },
    close: async () => {},
  };
}
