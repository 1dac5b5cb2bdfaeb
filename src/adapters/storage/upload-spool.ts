import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFullError } from '#adapters/os/disk-probe.ts';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { systemErrorCode } from '#adapters/storage/disk/disk-errors.ts';
import { clientGroupsOf } from '#core/client-networks.ts';
import type { OutboundBody } from '#ports/outbound.ts';
import type { FindTokensInUse, StorageClient } from '#ports/storage.ts';
import { ItemNotFound, StorageFull, StorageUnavailable } from '#ports/storage-errors.ts';
import { type PartSpace, SpaceFile } from './part-space.ts';
import { SpoolReservation } from './spool-reservation.ts';
import { SpoolSpace } from './spool-space.ts';

export interface UploadSpoolOptions {
  readonly folder: string;
  /** Maximum number of bytes in the folder. One tenant can have half of them. */
  readonly maxBytes: number;
  /** Watches the free space of the disk. */
  readonly space: PartSpace;
  /** Returns a time in ms. */
  readonly monotonic: () => number;
}

/**
 * How many files are opened or synced at the same time. Each occupies a thread until the disk has responded, and other work needs the
 * threads, too.
 */
const maxConcurrent = 3;

interface PartialUpload {
  readonly token: string;
  /** Bytes that have arrived before. */
  readonly offset: number;
  /** Bytes of the complete upload. */
  readonly size: number;
}

/** Runs work in the turn of a network. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

const descriptorCodes: readonly string[] = ['EMFILE', 'ENFILE'];

/**
 * Runs an operation on the disk.
 * @throws StorageFull, StorageUnavailable, or the error itself if the process has no file descriptors left
 */
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

/** The received bytes of an upload in parts. The caller waits for each call before the next one. */
export class SpooledFile {
  readonly #handle: FileHandle;
  readonly #file: SpaceFile;
  readonly #reservation: SpoolReservation;
  readonly #inTurn: InTurn;

  constructor(handle: FileHandle, file: SpaceFile, reservation: SpoolReservation, inTurn: InTurn) {
    this.#handle = handle;
    this.#file = file;
    this.#reservation = reservation;
    this.#inTurn = inTurn;
  }

  get length(): number {
    return this.#file.length;
  }

  /** @throws as `onDisk` */
  append(chunk: Uint8Array): Promise<void> {
    return onDisk(async () => {
      await this.#reservation.extend(this.length + chunk.length);
      await this.#file.append(chunk);
    });
  }

  /** Makes what was appended durable. @throws StorageFull, StorageUnavailable */
  sync(): Promise<void> {
    return onDisk(() => this.#inTurn(() => this.#handle.datasync()));
  }

  /** Returns the content. It can be read several times. */
  body(): OutboundBody {
    return { length: this.length, pieces: { [Symbol.asyncIterator]: () => this.#file.pieces() } };
  }

  async close(): Promise<void> {
    await this.#file.close();
    await this.#reservation.end(this.length);
  }
}

/**
 * Keeps the bytes of uploads in parts until each upload is complete, for storages whose servers get only complete files. The name of a
 * file consists of the tenant and the token of its upload.
 */
export class UploadSpool {
  readonly #folder: string;
  readonly #diskSpace: PartSpace;
  readonly #space: SpoolSpace;
  readonly #monotonic: () => number;
  readonly #turns: FairScheduler = fairScheduler(maxConcurrent);

  constructor({ folder, maxBytes, space, monotonic }: UploadSpoolOptions) {
    this.#folder = folder;
    this.#diskSpace = space;
    this.#space = new SpoolSpace(folder, maxBytes, monotonic);
    this.#monotonic = monotonic;
  }

  /**
   * Opens the file of an upload, and creates it for offset 0. The networks of clients take turns.
   * @throws ItemNotFound if the file is gone or shorter than `offset`; or as `onDisk`
   */
  open(tid: number, upload: PartialUpload, client?: StorageClient): Promise<SpooledFile> {
    const [network] = clientGroupsOf(client);
    const inTurn: InTurn = (work) => this.#turns(network, work);
    return inTurn(() => this.#open(`${tid}-${upload.token}`, upload, inTurn));
  }

  /** Deletes the file of an upload. A missing file is no error. */
  async delete(tid: number, token: string): Promise<void> {
    await this.#delete(`${tid}-${token}`);
  }

  /** Deletes the files of uploads that are not pending. */
  async sweep(findTokensInUse: FindTokensInUse, signal?: AbortSignal): Promise<void> {
    const names = await onDisk(() => this.#space.names());
    const tokenOf = (name: string) => name.slice(name.indexOf('-') + 1);
    // The tokens are looked up after the names: otherwise the file of an upload that began in between would be deleted.
    const tokensInUse = new Set(names.length === 0 ? [] : await findTokensInUse(names.map(tokenOf)));
    for (const name of names) {
      signal?.throwIfAborted();
      if (!tokensInUse.has(tokenOf(name))) await this.#delete(name);
    }
  }

  async #open(name: string, { offset, size }: PartialUpload, inTurn: InTurn): Promise<SpooledFile> {
    const reservation = await onDisk(() => SpoolReservation.begin(this.#space, { name, size, offset }, this.#monotonic));
    try {
      const handle = await onDisk(() => this.#openFile(name, offset));
      if (!handle) throw new ItemNotFound('the uploaded bytes are gone');
      return new SpooledFile(handle, new SpaceFile(this.#diskSpace, handle, offset), reservation, inTurn);
    } catch (cause) {
      await reservation.end(offset);
      throw cause;
    }
  }

  /** @returns null if the file is gone or shorter than `offset` */
  async #openFile(name: string, offset: number): Promise<FileHandle | null> {
    // O_TRUNC could delete bytes that another process has received while this one was suspended before this line.
    const flags = offset === 0 ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR;
    const handle = await open(join(this.#folder, name), flags, 0o600).catch((cause: unknown) => {
      if (systemErrorCode(cause) === 'ENOENT' && offset > 0) return null;
      throw cause;
    });
    if (!handle) return null;
    try {
      if (offset === 0) await syncFolder(this.#folder);
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

  async #delete(name: string): Promise<void> {
    await onDisk(async () => {
      await rm(join(this.#folder, name), { force: true });
      await this.#space.remove(name);
    });
  }
}
