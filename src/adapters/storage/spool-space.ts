import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '#adapters/storage/disk/disk-errors.ts';
import { StorageFull } from '#ports/storage-errors.ts';

/** A reservation is an empty file `{name of the upload}@{bytes}`: the processes that share the folder see each other's reservations. */
const separator = '@';
/**
 * ms after which a reservation counts only the bytes that have arrived, if neither it nor the file of the upload has changed: its process
 * has ended. A client that sends nothing for that long is refused earlier (`RequestTimeouts`).
 */
const staleAfter = 150_000;

const correctionInterval = 2000; // ms

const isMissing = (cause: unknown) => systemErrorCode(cause) === 'ENOENT';
const bytesOf = (file: string) => Number(file.slice(file.indexOf(separator) + 1));
const nameOf = (file: string) => file.split(separator, 1)[0] ?? '';

/** Returns the bytes that are reserved for each upload, by its name. */
function reservedBytes(files: readonly string[]): Map<string, number> {
  const bytesByUpload = new Map<string, number>();
  for (const file of files)
    if (file.includes(separator)) bytesByUpload.set(nameOf(file), Math.max(bytesByUpload.get(nameOf(file)) ?? 0, bytesOf(file)));
  return bytesByUpload;
}

/** Reserves the space of a folder for uploads, whose files are in the folder, too. */
export class SpoolSpace {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #monotonic: () => number;
  #lastReservation: Promise<unknown> = Promise.resolve();
  #lastCorrection = Number.NEGATIVE_INFINITY;

  /**
   * @param maxBytes of all uploads. Those of one tenant can have half of them
   * @param monotonic returns a time in ms
   */
  constructor(folder: string, maxBytes: number, monotonic: () => number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#monotonic = monotonic;
  }

  /**
   * Reserves space for an upload, and replaces its earlier reservation. The reservations of a process are made one after the other.
   * @param name begins with the id of the tenant and `-`
   * @param bytes that the upload has, and those that may still arrive
   * @throws StorageFull, or an error of the disk: the earlier reservation stays
   */
  reserve(name: string, bytes: number): Promise<void> {
    const reservation = this.#lastReservation.then(() => this.#reserve(name, bytes));
    this.#lastReservation = reservation.catch(() => {}); // the caller handles it
    return reservation;
  }

  /** Gives a part of the space of an upload back. */
  async shrink(name: string, from: number, to: number): Promise<void> {
    await rename(this.#path(name, from), this.#path(name, to)).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause; // if it is missing, another process has changed it
    });
  }

  /** Gives all space of an upload back. */
  async remove(name: string): Promise<void> {
    await this.#removeReservations(await this.#files(), name);
  }

  /** Returns the names of the uploads that have a file or a reservation. */
  async names(): Promise<string[]> {
    return [...new Set((await this.#files()).map(nameOf))];
  }

  async #reserve(name: string, bytes: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const isCreated = await this.#create(name, bytes);
    try {
      // The files are counted after this one was created: of two processes that reserve the last space at once, at least one sees both.
      let files = await this.#files();
      if (!this.#isWithinLimits(files, name) && (await this.#correctStale(files, name, bytes))) files = await this.#files();
      if (!this.#isWithinLimits(files, name))
        throw new StorageFull('too many bytes of unfinished uploads are stored (POSTERN_UPLOAD_SPOOL)');
      await this.#removeReservations(files, name, `${name}${separator}${bytes}`);
    } catch (cause) {
      if (isCreated) await rm(this.#path(name, bytes), { force: true });
      else await this.shrink(name, bytes, await this.#sizeOf(name)); // left by an ended process: no other process receives this upload
      throw cause;
    }
  }

  /** Creates the file of a reservation, or sets its time to the present time of the disk. @returns false if it existed */
  async #create(name: string, bytes: number): Promise<boolean> {
    const path = this.#path(name, bytes);
    const newFile = await open(path, 'wx', 0o600).catch((cause: unknown) => {
      if (systemErrorCode(cause) !== 'EEXIST') throw cause;
      return null;
    });
    const file = newFile ?? (await open(path, 'w', 0o600));
    await file.close();
    return newFile !== null;
  }

  /** @param files of the folder @param name of an upload of the tenant */
  #isWithinLimits(files: readonly string[], name: string): boolean {
    const tenant = name.slice(0, name.indexOf('-') + 1);
    let [total, ofTenant] = [0, 0];
    for (const [other, bytes] of reservedBytes(files)) {
      total += bytes;
      if (other.startsWith(tenant)) ofTenant += bytes;
    }
    return total <= this.#maxBytes && ofTenant <= this.#maxBytes / 2;
  }

  /**
   * Corrects the reservations of processes that have ended, at most once in `correctionInterval`.
   * @param files of the folder
   * @param name of an upload, and the bytes that were just reserved for it: its file shows the time of the disk
   * @returns false if the last correction was too recent
   */
  async #correctStale(files: readonly string[], name: string, bytes: number): Promise<boolean> {
    if (this.#monotonic() - this.#lastCorrection < correctionInterval) return false;
    this.#lastCorrection = this.#monotonic();
    const now = (await stat(this.#path(name, bytes))).mtimeMs;
    for (const file of files) {
      if (!file.includes(separator) || nameOf(file) === name) continue;
      const reservation = await stat(join(this.#folder, file)).catch(() => null); // deleted meanwhile
      const upload = await stat(join(this.#folder, nameOf(file))).catch(() => null);
      const size = upload?.size ?? 0;
      const changedAt = Math.max(reservation?.mtimeMs ?? now, upload?.mtimeMs ?? 0);
      if (now - changedAt > staleAfter && size < bytesOf(file)) await this.shrink(nameOf(file), bytesOf(file), size);
    }
    return true;
  }

  async #removeReservations(files: readonly string[], name: string, except?: string): Promise<void> {
    for (const file of files) if (file.startsWith(name + separator) && file !== except) await rm(join(this.#folder, file), { force: true });
  }

  /** Returns how many bytes of an upload have arrived. */
  async #sizeOf(name: string): Promise<number> {
    const file = await stat(join(this.#folder, name)).catch(() => null); // no part of it has arrived
    return file?.size ?? 0;
  }

  #path(name: string, bytes: number): string {
    return join(this.#folder, `${name}${separator}${bytes}`);
  }

  /** Returns the names of all files in the folder. */
  #files(): Promise<string[]> {
    return readdir(this.#folder).catch((cause: unknown) => {
      if (isMissing(cause)) return []; // no upload has needed it yet
      throw cause;
    });
  }
}
