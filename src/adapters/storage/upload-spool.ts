import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { systemErrorCode } from '#adapters/storage/disk/disk-errors.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import { ItemNotFound, StorageFull, StorageUnavailable } from '#ports/storage.ts';
import { type PartSpace, SpaceFile } from './part-space.ts';

/** Where the files of unfinished uploads are kept. */
export interface UploadSpoolOptions {
  readonly folder: string;
  /** Maximum number of bytes in the folder. One tenant can have half of them. */
  readonly maxBytes: number;
  /** Watches the free space of the disk. */
  readonly space: PartSpace;
  /** Returns a time in ms. */
  readonly monotonic: () => number;
}

const descriptorCodes: readonly string[] = ['EMFILE', 'ENFILE'];

/** Runs an operation on the disk. @throws StorageFull, StorageUnavailable, or the error itself if the process has no file descriptors left */
async function onDisk<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    if (cause instanceof StorageFull || descriptorCodes.includes(systemErrorCode(cause))) throw cause;
    if (isDiskFullError(cause)) throw new StorageFull('POSTERN_DATA is full', { cause });
    throw new StorageUnavailable('the disk of POSTERN_DATA has failed', { cause });
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

/** The bytes that have arrived of an upload in parts. One call at a time. */
export class SpooledFile {
  readonly #handle: FileHandle;
  readonly #file: SpaceFile;
  readonly #onClose: (length: number) => void;

  constructor(handle: FileHandle, file: SpaceFile, onClose: (length: number) => void) {
    this.#handle = handle;
    this.#file = file;
    this.#onClose = onClose;
  }

  get length(): number {
    return this.#file.length;
  }

  /** @throws StorageFull, StorageUnavailable */
  append(chunk: Uint8Array): Promise<void> {
    return onDisk(() => this.#file.append(chunk));
  }

  /** Makes what was appended durable. @throws StorageFull, StorageUnavailable */
  sync(): Promise<void> {
    return onDisk(() => this.#handle.datasync());
  }

  /** Returns the content. It can be read several times. */
  body(): OutboundBody {
    return { length: this.length, pieces: { [Symbol.asyncIterator]: () => this.#file.pieces() } };
  }

  async close(): Promise<void> {
    this.#onClose(this.length);
    await this.#file.close();
  }
}

/** Ages in ms up to which the sizes of the files are used: at first, and before an upload is refused. Other processes may use the folder, too. */
const maxAges = [5000, 500];

/** Keeps the bytes of uploads in parts for storages that cannot continue a file. Each file is named by its tenant and the token of its upload. */
export class UploadSpool {
  readonly #options: UploadSpoolOptions;
  /** The bytes of each file in the folder. */
  #stored: { readonly sizes: Promise<Map<string, number>>; readonly readAt: number } | null = null;
  /** The bytes of the complete uploads of which a part arrives at this process. */
  readonly #arriving = new Map<string, number>();

  constructor(options: UploadSpoolOptions) {
    this.#options = options;
  }

  /**
   * Opens the file of an upload, and creates it for offset 0.
   * @param offset bytes to keep
   * @param size bytes of the complete upload
   * @throws ItemNotFound if the file is gone or shorter than `offset`; StorageFull, StorageUnavailable
   */
  async open(tid: number, token: string, offset: number, size: number): Promise<SpooledFile> {
    const name = `${tid}-${token}`;
    await this.#reserve(tid, name, size);
    const end = (length: number | null) => {
      this.#arriving.delete(name);
      if (length !== null) void this.#stored?.sizes.then((sizes) => sizes.set(name, length));
    };
    try {
      const handle = await onDisk(() => this.#openFile(name, offset));
      if (!handle) throw new ItemNotFound('what was uploaded is gone');
      return new SpooledFile(handle, new SpaceFile(this.#options.space, handle, offset), end);
    } catch (cause) {
      end(null);
      throw cause;
    }
  }

  /** Deletes the file of an upload. An absent one is no error. */
  async delete(tid: number, token: string): Promise<void> {
    await this.#deleteFile(`${tid}-${token}`);
  }

  /** Deletes the files of uploads that are not pending. */
  async sweep(pendingTokens: () => Promise<readonly string[]>): Promise<void> {
    const names = [...(await this.#readSizes()).keys()];
    // The tokens are queried after the folder was read, so that no new upload is missing.
    const pending = new Set(names.length === 0 ? [] : await pendingTokens());
    for (const name of names) if (!pending.has(name.slice(name.indexOf('-') + 1))) await this.#deleteFile(name);
  }

  /** Reserves the space of an upload. @throws StorageFull */
  async #reserve(tid: number, name: string, size: number): Promise<void> {
    for (const maxAge of maxAges) {
      if (!this.#hasSpace(await this.#storedSizes(maxAge), tid, name, size)) continue;
      this.#arriving.set(name, size);
      return;
    }
    throw new StorageFull('too many bytes of unfinished uploads are stored (POSTERN_UPLOAD_SPOOL)');
  }

  #hasSpace(stored: ReadonlyMap<string, number>, tid: number, name: string, size: number): boolean {
    const { maxBytes } = this.#options;
    const sizes = new Map([...stored, ...this.#arriving]);
    if (size <= (sizes.get(name) ?? 0)) return true;
    sizes.set(name, size);
    let [total, ofTenant] = [0, 0];
    for (const [other, bytes] of sizes) {
      total += bytes;
      if (other.startsWith(`${tid}-`)) ofTenant += bytes;
    }
    return total <= maxBytes && ofTenant <= maxBytes / 2;
  }

  /** @returns null if the file is gone or shorter than `offset` */
  async #openFile(name: string, offset: number): Promise<FileHandle | null> {
    const { folder } = this.#options;
    const path = join(folder, name);
    if (offset === 0) await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(path, offset === 0 ? 'w+' : 'r+', 0o600).catch((cause: unknown) => {
      if (systemErrorCode(cause) === 'ENOENT' && offset > 0) return null;
      throw cause;
    });
    if (!handle) return null;
    try {
      if (offset === 0) await syncFolder(folder);
      else if ((await handle.stat()).size < offset) {
        await handle.close();
        return null;
      }
      return handle;
    } catch (cause) {
      await handle.close();
      throw cause;
    }
  }

  async #deleteFile(name: string): Promise<void> {
    await onDisk(() => rm(join(this.#options.folder, name), { force: true }));
    (await this.#stored?.sizes)?.delete(name);
  }

  /** Returns the size of each file in the folder. @param maxAge ms since they were read */
  #storedSizes(maxAge: number): Promise<Map<string, number>> {
    const now = this.#options.monotonic();
    if (this.#stored && now - this.#stored.readAt < maxAge) return this.#stored.sizes;
    const sizes = this.#readSizes();
    this.#stored = { sizes, readAt: now };
    sizes.catch(() => {
      if (this.#stored?.sizes === sizes) this.#stored = null;
    });
    return sizes;
  }

  /** Returns the size of each file in the folder. */
  #readSizes(): Promise<Map<string, number>> {
    const { folder } = this.#options;
    return onDisk(async () => {
      const names = await readdir(folder).catch((cause: unknown) => {
        if (systemErrorCode(cause) === 'ENOENT') return []; // no upload has needed it yet
        throw cause;
      });
      const sizes = new Map<string, number>();
      for (const name of names) {
        const entry = await stat(join(folder, name)).catch(() => null); // deleted meanwhile
        if (entry) sizes.set(name, entry.size);
      }
      return sizes;
    });
  }
}
