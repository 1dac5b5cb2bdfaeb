import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutboundBody } from '#ports/outbound.ts';
import { ItemNotFound, StorageFull } from '#ports/storage.ts';
import { type PartSpace, SpaceFile } from './part-space.ts';

const maxAge = 8 * 24 * 3_600_000; // ms: an upload that gets no bytes ends after a day, and its row is deleted a week later

/** Where the files of unfinished uploads are kept. */
export interface UploadSpoolOptions {
  readonly folder: string;
  /** Maximum number of bytes in the folder. One tenant can have half of them. */
  readonly maxBytes: number;
  /** Watches the free space of the disk. */
  readonly space: PartSpace;
  /** ms since the epoch. */
  readonly now: () => number;
}

const isAbsent = (cause: unknown) => cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

/** The bytes that have arrived of an upload in parts. One call at a time. */
export class SpooledFile {
  readonly #handle: FileHandle;
  readonly #file: SpaceFile;

  constructor(handle: FileHandle, space: PartSpace, length: number) {
    this.#handle = handle;
    this.#file = new SpaceFile(space, handle, length);
  }

  get length(): number {
    return this.#file.length;
  }

  /** @throws StorageFull */
  append(chunk: Uint8Array): Promise<void> {
    return this.#file.append(chunk);
  }

  /** Makes what was appended durable. */
  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  /** Returns the content. It can be read several times. */
  body(): OutboundBody {
    return { length: this.length, pieces: { [Symbol.asyncIterator]: () => this.#file.pieces() } };
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/**
 * Keeps the bytes of uploads in parts for storages that cannot continue a file. A file has the size of the complete upload from the
 * beginning, so that the limit counts what was announced.
 */
export class UploadSpool {
  readonly #options: UploadSpoolOptions;
  /** Files are created one after another, so that each sees the sizes of the others. */
  #created: Promise<unknown> = Promise.resolve();

  constructor(options: UploadSpoolOptions) {
    this.#options = options;
  }

  /**
   * Opens the file of an upload, and creates it for offset 0.
   * @param offset bytes to keep
   * @param size bytes of the complete upload
   * @throws ItemNotFound if there is no such file; StorageFull
   */
  async open(tid: number, token: string, offset: number, size: number): Promise<SpooledFile> {
    const path = this.#pathOf(tid, token);
    const handle = (await this.#reopen(path)) ?? (offset === 0 ? await this.#create(tid, path, size) : null);
    if (!handle) throw new ItemNotFound('what was uploaded is gone');
    return new SpooledFile(handle, this.#options.space, offset);
  }

  /** Deletes the file of an upload. An absent one is no error. */
  delete(tid: number, token: string): Promise<void> {
    return rm(this.#pathOf(tid, token), { force: true });
  }

  /** Deletes the files of uploads that are not pending. */
  async sweep(pendingTokens: () => Promise<readonly string[]>): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch(() => []); // no upload has needed it
    if (names.length === 0) return;
    // The tokens are queried after the folder was read, so that no new upload is missing.
    const pending = new Set(await pendingTokens());
    for (const name of names) if (!pending.has(name.slice(name.indexOf('-') + 1))) await rm(join(folder, name), { force: true });
  }

  #pathOf(tid: number, token: string): string {
    return join(this.#options.folder, `${tid}-${token}`);
  }

  async #reopen(path: string): Promise<FileHandle | null> {
    try {
      return await open(path, 'r+');
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw cause;
    }
  }

  #create(tid: number, path: string, size: number): Promise<FileHandle> {
    const created = this.#created.then(() => this.#createNow(tid, path, size));
    this.#created = created.catch(() => {});
    return created;
  }

  async #createNow(tid: number, path: string, size: number): Promise<FileHandle> {
    const { folder, maxBytes } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { total, ofTenant } = await this.#usedBytes(tid);
    if (total + size > maxBytes || ofTenant + size > maxBytes / 2)
      throw new StorageFull('too many bytes of unfinished uploads are stored (POSTERN_UPLOAD_SPOOL)');
    const handle = await open(path, 'wx+', 0o600);
    try {
      await handle.truncate(size);
      await handle.sync();
      await syncFolder(folder);
      return handle;
    } catch (cause) {
      await handle.close();
      await rm(path, { force: true });
      throw cause;
    }
  }

  /** Counts the bytes of all files, and deletes those that no upload can need any more. */
  async #usedBytes(tid: number): Promise<{ readonly total: number; readonly ofTenant: number }> {
    const { folder, now } = this.#options;
    let [total, ofTenant] = [0, 0];
    for (const name of await readdir(folder)) {
      const entry = await stat(join(folder, name)).catch(() => null);
      if (!entry) continue;
      if (now() - entry.mtimeMs > maxAge) {
        await rm(join(folder, name), { force: true });
        continue;
      }
      total += entry.size;
      if (name.startsWith(`${tid}-`)) ofTenant += entry.size;
    }
    return { total, ofTenant };
  }
}
