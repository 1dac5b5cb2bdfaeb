import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '#adapters/storage/disk/disk-errors.ts';
import { StorageFull } from '#ports/storage.ts';

/** A reservation is an empty file `{name of the upload}@{bytes}`: the processes that share the folder see each other's. */
const separator = '@';

/** Returns the bytes that are reserved for each upload, by its name. */
function reservedBytes(files: readonly string[]): Map<string, number> {
  const reserved = new Map<string, number>();
  for (const file of files) {
    const [name = '', bytes] = file.split(separator);
    if (bytes !== undefined) reserved.set(name, Math.max(reserved.get(name) ?? 0, Number(bytes)));
  }
  return reserved;
}

/** Reserves the space of a folder for uploads. While a part arrives, its upload has space for all of its bytes, otherwise for those that have arrived. */
export class SpoolSpace {
  readonly #folder: string;
  readonly #maxBytes: number;
  #lastReservation: Promise<unknown> = Promise.resolve();

  /** @param maxBytes of all uploads. Those of one tenant can have half of them */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * Reserves space for all bytes of an upload. The reservations of a process are made one after the other.
   * @param name begins with the id of the tenant and `-`
   * @throws StorageFull, or an error of the disk
   */
  reserve(name: string, size: number): Promise<void> {
    const reservation = this.#lastReservation.then(() => this.#reserve(name, size));
    this.#lastReservation = reservation.catch(() => {}); // the caller handles it
    return reservation;
  }

  /** Ends a reservation: no more bytes arrive for now. @param length bytes that have arrived */
  async release(name: string, size: number, length: number): Promise<void> {
    await rename(this.#path(name, size), this.#path(name, length)).catch((cause: unknown) => {
      if (systemErrorCode(cause) !== 'ENOENT') throw cause; // another process has ended it
    });
  }

  /** Gives all space of an upload back. */
  async remove(name: string): Promise<void> {
    const files = await this.#files();
    for (const file of files) if (file.startsWith(name + separator)) await rm(join(this.#folder, file), { force: true });
  }

  /** Returns the names of the uploads that have a file or a reservation. */
  async names(): Promise<string[]> {
    const names = (await this.#files()).map((file) => file.split(separator, 1)[0] ?? '');
    return [...new Set(names)];
  }

  async #reserve(name: string, size: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (!(await this.#create(name, size))) return;
    // Counted after it was created: of two processes that reserve the last space at a time, at least one sees the other.
    const files = await this.#files();
    const reserved = reservedBytes(files);
    if (!this.#isWithinLimits(reserved, name)) {
      await rm(this.#path(name, size), { force: true });
      throw new StorageFull('too many bytes of unfinished uploads are stored (POSTERN_UPLOAD_SPOOL)');
    }
    const own = `${name}${separator}${size}`;
    for (const file of files) if (file.startsWith(name + separator) && file !== own) await rm(join(this.#folder, file), { force: true });
  }

  /** Creates the file of a reservation. @returns false if there is one */
  async #create(name: string, size: number): Promise<boolean> {
    try {
      await using _ = await open(this.#path(name, size), 'wx', 0o600);
      return true;
    } catch (cause) {
      if (systemErrorCode(cause) === 'EEXIST') return false;
      throw cause;
    }
  }

  #isWithinLimits(reserved: ReadonlyMap<string, number>, name: string): boolean {
    const tenant = name.slice(0, name.indexOf('-') + 1);
    let [total, ofTenant] = [0, 0];
    for (const [other, bytes] of reserved) {
      total += bytes;
      if (other.startsWith(tenant)) ofTenant += bytes;
    }
    return total <= this.#maxBytes && ofTenant <= this.#maxBytes / 2;
  }

  #path(name: string, bytes: number): string {
    return join(this.#folder, `${name}${separator}${bytes}`);
  }

  /** Returns the names of all files in the folder. */
  #files(): Promise<string[]> {
    return readdir(this.#folder).catch((cause: unknown) => {
      if (systemErrorCode(cause) === 'ENOENT') return []; // no upload has needed it yet
      throw cause;
    });
  }
}
