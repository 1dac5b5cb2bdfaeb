import { Refusal } from '#core/messages.ts';
import { withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import { headBytes } from '#ports/media.ts';
import type { ByteRange, OpenFile } from '#ports/storage.ts';
import { ItemChanged } from '#ports/storage-errors.ts';
import { readRange } from './read-range.ts';

/** Opens or reads a file. @throws Refusal (503) if the file changes meanwhile; otherwise as `withStorageErrors` */
export const withReadErrors = <T>(read: () => Promise<T>): Promise<T> =>
  withStorageErrors(async () => {
    try {
      return await read();
    } catch (cause) {
      if (cause instanceof ItemChanged) throw new Refusal('storageAway', 'The file was changed while it was read. Try again.');
      throw cause;
    }
  });

export const readHead = (file: OpenFile): Promise<Uint8Array> =>
  withReadErrors(() => readRange(file, { start: 0, end: Math.min(headBytes, file.entry.size) - 1 }));

/** Returns the bytes of a small range. @throws Refusal as `withReadErrors` */
export const readSmallRange = (file: OpenFile, range: ByteRange): Promise<Uint8Array> => withReadErrors(() => readRange(file, range));
