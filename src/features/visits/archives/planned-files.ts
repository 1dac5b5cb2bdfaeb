import type { OpenFile } from '#ports/storage.ts';
import { ItemChanged, StorageUnavailable } from '#ports/storage-errors.ts';
import { bufferOf } from './reused-buffer.ts';
import type { PlacedItem } from './zip-plan.ts';

/**
 * The archive cannot be completed as planned: a file has changed or is gone, or the storage is unavailable. The response must be
 * aborted.
 */
class ArchiveAborted extends Error {}

/** Returns the error for a failed read. Only an aborted response shows the client that its archive is not complete. */
export function archiveReadError(cause: unknown): unknown {
  if (cause instanceof ItemChanged) return new ArchiveAborted('a file has changed', { cause });
  return cause instanceof StorageUnavailable ? new ArchiveAborted('the storage is unavailable', { cause }) : cause;
}

/** Reads the files of a planned archive, as long as they are the same as in the plan. */
export class PlannedFiles {
  readonly #open: (item: PlacedItem) => Promise<OpenFile | null>;

  constructor(open: (item: PlacedItem) => Promise<OpenFile | null>) {
    this.#open = open;
  }

  /** Opens a planned file. @throws ArchiveAborted if the file has changed or is gone */
  async open(item: PlacedItem): Promise<OpenFile> {
    const file = await this.#open(item);
    if (file?.entry.etag === item.etag) return file;
    await file?.close();
    throw new ArchiveAborted(`a file has changed or is gone: ${item.name}`);
  }

  /** Yields the bytes of a file from a position up to its planned size. Bytes that are appended meanwhile are ignored. */
  async *read(item: PlacedItem, from: number): AsyncGenerator<Buffer> {
    const file = await this.open(item);
    try {
      for await (const piece of file.read({ start: from, end: item.size - 1 })) yield bufferOf(piece);
    } finally {
      await file.close();
    }
  }
}
