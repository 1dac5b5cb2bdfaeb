import type { DatedEntry } from '#core/listing.ts';
import type { OpenFile } from '#ports/storage.ts';

/** Returns a small file whose content was read when it was opened. */
export function memoryFile(entry: DatedEntry, content: Uint8Array): OpenFile {
  return {
    entry,
    content,
    async *read({ start, end }) {
      if (end >= start) yield content.subarray(start, end + 1);
    },
    close: async () => {},
  };
}
