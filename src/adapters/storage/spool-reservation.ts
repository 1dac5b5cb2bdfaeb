import { StorageFull } from '#ports/storage-errors.ts';
import type { SpoolSpace } from './spool-space.ts';

const checkInterval = 10_000; // ms between two checks of the rate of an upload
/** ms. An upload that is fast enough to be complete within this time gets the space for all of its bytes. */
const maxDuration = 3_600_000;
/** Bytes by which the space of a slower upload grows. */
const step = 16 << 20;

export interface ArrivingUpload {
  /** Begins with the id of the tenant and `-`. */
  readonly name: string;
  /** Bytes of the complete upload. */
  readonly size: number;
  /** Bytes that have arrived. */
  readonly offset: number;
}

/**
 * The space of an upload while a part arrives. The space grows step by step, so that nobody can hold much space with few bytes. A fast
 * upload gets the space for the complete file, so that two uploads do not wait for each other's space.
 */
export class SpoolReservation {
  readonly #space: SpoolSpace;
  readonly #upload: ArrivingUpload;
  readonly #monotonic: () => number;
  #bytes: number;
  #lastCheck: { readonly at: number; readonly length: number };

  private constructor(space: SpoolSpace, upload: ArrivingUpload, monotonic: () => number) {
    this.#space = space;
    this.#upload = upload;
    this.#monotonic = monotonic;
    this.#bytes = Math.min(upload.size, upload.offset + step);
    this.#lastCheck = { at: monotonic(), length: upload.offset };
  }

  /** @param monotonic returns a time in ms @throws StorageFull, or an error of the disk */
  static async begin(space: SpoolSpace, upload: ArrivingUpload, monotonic: () => number): Promise<SpoolReservation> {
    const reservation = new SpoolReservation(space, upload, monotonic);
    await space.reserve(upload.name, reservation.#bytes);
    return reservation;
  }

  /** Reserves space for bytes before they are written. @param length bytes of the upload afterwards @throws as `begin` */
  async extend(length: number): Promise<void> {
    if (length > this.#bytes) await this.#reserve(length + step);
    const { at, length: previous } = this.#lastCheck;
    const elapsed = this.#monotonic() - at;
    if (elapsed < checkInterval) return;
    this.#lastCheck = { at: this.#monotonic(), length };
    const expectedLength = length + ((length - previous) * maxDuration) / elapsed;
    if (expectedLength >= this.#upload.size) await this.#reserveAll();
    else if (length + step < this.#bytes) await this.#reserve(length + step);
  }

  /** Gives back the space of bytes that have not arrived. If that fails, `SpoolSpace` corrects it later. */
  async end(length: number): Promise<void> {
    await this.#space.shrink(this.#upload.name, this.#bytes, length).catch(() => {});
  }

  /** Reserves the space for all bytes, if there is enough. */
  async #reserveAll(): Promise<void> {
    try {
      await this.#reserve(this.#upload.size);
    } catch (cause) {
      if (!(cause instanceof StorageFull)) throw cause;
    }
  }

  async #reserve(bytes: number): Promise<void> {
    const { name, size } = this.#upload;
    const next = Math.min(size, bytes);
    if (next === this.#bytes) return;
    if (next > this.#bytes) await this.#space.reserve(name, next);
    else await this.#space.shrink(name, this.#bytes, next);
    this.#bytes = next;
  }
}
