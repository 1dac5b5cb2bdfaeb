import { mkdir, open, opendir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '#adapters/storage/disk/disk-errors.ts';
import { StorageFull } from '#ports/storage-errors.ts';
import { ReservedBytes, reservationFile, uploadOf } from './reserved-bytes.ts';

/**
 * ms after which a reservation is stale if neither it nor the file of its upload has changed. Its process must have ended, because
 * `RequestTimeouts` ends the request of a silent client earlier. When space is short, a stale reservation is reduced to the bytes that
 * have arrived.
 */
const staleAfter = 150_000;

const correctionInterval = 2000; // ms
/** ms after which the folder is read again for the changes of other processes, if much of the space is free. */
const maxAge = 1000;
/** The folder is read again earlier if less than this part of the space is free. */
const scarcePart = 1 / 8;
/** Reading the folder, and reading the times of its tens of thousands of files, each take at most a tenth of the time. */
const restFactor = 10;

const pieceLength = 256; // files of the folder to read at once

const isMissing = (cause: unknown) => systemErrorCode(cause) === 'ENOENT';

/** The reservations when the folder was last read, with the later changes of this process. */
interface Snapshot {
  readonly reserved: ReservedBytes;
  readonly readAt: number;
  /** How long reading took, in ms. */
  readonly duration: number;
}

/**
 * Reserves space for the uploads in a folder. Each reservation is a file in it whose name contains the number of bytes, so that the
 * processes that share the folder see each other's reservations: a second late, or later if reading the folder takes long. Together, the
 * processes can exceed the limits by what they reserve within that time.
 */
export class SpoolSpace {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #monotonic: () => number;
  #snapshot: Snapshot | null = null;
  #lastChange: Promise<unknown> = Promise.resolve();
  #nextCorrection = Number.NEGATIVE_INFINITY;

  /**
   * @param maxBytes of all uploads; one tenant can have half of these bytes
   * @param monotonic returns a time in ms
   */
  constructor(folder: string, maxBytes: number, monotonic: () => number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#monotonic = monotonic;
  }

  /**
   * Reserves space for an upload, and replaces its earlier reservation.
   * @param upload its name; begins with the id of the tenant and `-`
   * @param bytes that the upload has, plus the bytes that may still arrive
   * @throws StorageFull, or an error of the disk: the earlier reservation stays, or is reduced to the bytes that have arrived
   */
  async reserve(upload: string, bytes: number): Promise<void> {
    if (await this.#inOrder(() => this.#reserve(upload, bytes))) return;
    if ((await this.#correctStale()) && (await this.#inOrder(() => this.#reserve(upload, bytes)))) return;
    throw new StorageFull('too many bytes of unfinished uploads are stored (POSTERN_UPLOAD_SPOOL)');
  }

  /** Gives back a part of the space of an upload. */
  shrink(upload: string, from: number, to: number): Promise<void> {
    return this.#inOrder(() => this.#shrink(upload, from, to));
  }

  /** Gives back all space of an upload. */
  remove(upload: string): Promise<void> {
    return this.#inOrder(async () => {
      const isComplete = await this.#removeKnown(upload);
      if (isComplete || !this.#mayRead()) return;
      await this.#read();
      await this.#removeKnown(upload);
    });
  }

  /** Returns the names of the uploads that have a file or a reservation. */
  async names(): Promise<string[]> {
    const uploads = new Set<string>();
    for await (const file of this.#files()) uploads.add(uploadOf(file));
    return [...uploads];
  }

  /** Runs the changes of this process one after the other. */
  #inOrder<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => {}); // the caller handles it
    return result;
  }

  /** @returns false if there is not enough space */
  async #reserve(upload: string, bytes: number): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const isCreated = await this.#create(upload, bytes);
    let isReserved = false;
    try {
      isReserved = await this.#isWithinLimits(upload);
      if (isReserved) await this.#removeKnown(upload, bytes);
      return isReserved;
    } finally {
      if (!isReserved) await this.#undo(upload, bytes, isCreated);
    }
  }

  /** Removes a new reservation. Reduces one that existed before to the bytes that have arrived: it was left by a process that has ended. */
  async #undo(upload: string, bytes: number, isCreated: boolean): Promise<void> {
    if (!isCreated) return this.#shrink(upload, bytes, await this.#sizeOf(upload));
    await rm(this.#path(upload, bytes), { force: true });
    this.#snapshot?.reserved.delete(upload, bytes);
  }

  /** Creates the file of a reservation, or sets its time to the present time of the disk. @returns false if it existed */
  async #create(upload: string, bytes: number): Promise<boolean> {
    const path = this.#path(upload, bytes);
    const newFile = await open(path, 'wx', 0o600).catch((cause: unknown) => {
      if (systemErrorCode(cause) !== 'EEXIST') throw cause;
      return null;
    });
    const file = newFile ?? (await open(path, 'w', 0o600));
    await file.close();
    this.#snapshot?.reserved.add(upload, bytes);
    return newFile !== null;
  }

  /** Call it after the reservation was created: if two processes reserve space at once and read the folder, at least one sees both. */
  async #isWithinLimits(upload: string): Promise<boolean> {
    let snapshot = this.#snapshot;
    const isOld = !snapshot || this.#ageOf(snapshot) >= maxAge || this.#freePart(snapshot, upload) < scarcePart;
    if (!snapshot || (isOld && this.#mayRead())) snapshot = await this.#read();
    return this.#freePart(snapshot, upload) >= 0;
  }

  /** Returns the free part of the space, in total or for the tenant of an upload, whichever is less. Negative: a limit is exceeded. */
  #freePart({ reserved }: Snapshot, upload: string): number {
    return 1 - Math.max(reserved.total, 2 * reserved.ofTenant(upload)) / this.#maxBytes;
  }

  /**
   * Corrects the reservations of processes that have ended. Other changes continue meanwhile.
   * @returns false if the last correction was too recent, or still runs
   */
  async #correctStale(): Promise<boolean> {
    const startedAt = this.#monotonic();
    if (startedAt < this.#nextCorrection) return false;
    this.#nextCorrection = Number.POSITIVE_INFINITY;
    try {
      const now = (await stat(this.#folder)).mtimeMs; // the time of the disk: the caller has just changed the folder
      for (const { upload, bytes } of this.#snapshot?.reserved.all() ?? []) {
        const size = await this.#staleSize(upload, bytes, now);
        if (size !== null) await this.shrink(upload, bytes, size);
      }
      return true;
    } finally {
      const endedAt = this.#monotonic();
      this.#nextCorrection = endedAt + Math.max(correctionInterval, restFactor * (endedAt - startedAt));
    }
  }

  /** If the reservation of an upload is stale, returns how many bytes have arrived; otherwise null. @param now the time of the disk */
  async #staleSize(upload: string, bytes: number, now: number): Promise<number | null> {
    const file = await stat(join(this.#folder, upload)).catch(() => null); // no part of it has arrived
    const reservation = await stat(this.#path(upload, bytes)).catch(() => null); // deleted meanwhile
    const size = file?.size ?? 0;
    const changedAt = Math.max(reservation?.mtimeMs ?? now, file?.mtimeMs ?? 0);
    return now - changedAt > staleAfter && size < bytes ? size : null;
  }

  async #shrink(upload: string, from: number, to: number): Promise<void> {
    if (from === to) return;
    const isRenamed = await rename(this.#path(upload, from), this.#path(upload, to)).then(
      () => true,
      (cause: unknown) => {
        if (!isMissing(cause)) throw cause;
        return false; // another process has changed it
      },
    );
    this.#snapshot?.reserved.delete(upload, from);
    if (isRenamed) this.#snapshot?.reserved.add(upload, to);
  }

  /**
   * Removes the reservations of an upload that the snapshot contains.
   * @param except bytes of one that stays
   * @returns false if there were none, or another process has changed them
   */
  async #removeKnown(upload: string, except?: number): Promise<boolean> {
    const reservations = (this.#snapshot?.reserved.of(upload) ?? []).filter((bytes) => bytes !== except);
    let isComplete = reservations.length > 0;
    for (const bytes of reservations) {
      await unlink(this.#path(upload, bytes)).catch((cause: unknown) => {
        if (!isMissing(cause)) throw cause;
        isComplete = false;
      });
      this.#snapshot?.reserved.delete(upload, bytes);
    }
    return isComplete;
  }

  /** Returns how many bytes of an upload have arrived. */
  async #sizeOf(upload: string): Promise<number> {
    const file = await stat(join(this.#folder, upload)).catch(() => null); // no part of it has arrived
    return file?.size ?? 0;
  }

  #path(upload: string, bytes: number): string {
    return join(this.#folder, reservationFile(upload, bytes));
  }

  #ageOf({ readAt }: Snapshot): number {
    return this.#monotonic() - readAt;
  }

  /** Returns whether enough time has passed to read the folder again. */
  #mayRead(): boolean {
    return !this.#snapshot || this.#ageOf(this.#snapshot) >= restFactor * this.#snapshot.duration;
  }

  async #read(): Promise<Snapshot> {
    const startedAt = this.#monotonic();
    const reserved = new ReservedBytes();
    for await (const file of this.#files()) reserved.addFile(file);
    const readAt = this.#monotonic();
    this.#snapshot = { reserved, readAt, duration: readAt - startedAt };
    return this.#snapshot;
  }

  /** Returns the names of all files in the folder. A large folder is read in pieces, so that requests do not wait for it. */
  async *#files(): AsyncGenerator<string> {
    const folder = await opendir(this.#folder, { bufferSize: pieceLength }).catch((cause: unknown) => {
      if (isMissing(cause)) return null; // no upload has needed it yet
      throw cause;
    });
    if (folder) for await (const { name } of folder) yield name;
  }
}
