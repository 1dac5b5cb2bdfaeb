import { StorageUnavailable } from '#ports/storage-errors.ts';

const minRemaining = 300_000; // ms: a secret is fetched again this long before it expires

/** A secret, and when it expires. */
export interface Expiring {
  /** ms since the epoch; null: never. */
  readonly expires: number | null;
}

/** A secret that expires. All requests share it until then. */
export class TemporarySecret<T extends Expiring> {
  readonly #now: () => number;
  readonly #fetchNew: () => Promise<T>;
  readonly #failure: string;
  #current: Promise<T> | null = null;

  /** @param now ms since the epoch @param failure text of the error if none can be fetched */
  constructor(now: () => number, fetchNew: () => Promise<T>, failure: string) {
    this.#now = now;
    this.#fetchNew = fetchNew;
    this.#failure = failure;
  }

  /** Returns a valid secret. @throws StorageUnavailable */
  async get(): Promise<T> {
    const current = await this.#fetch();
    if (current.expires === null || current.expires - this.#now() > minRemaining) return current;
    this.#current = null;
    return this.#fetch();
  }

  async #fetch(): Promise<T> {
    this.#current ??= this.#fetchNew();
    try {
      return await this.#current;
    } catch (cause) {
      this.#current = null;
      throw new StorageUnavailable(this.#failure, { cause });
    }
  }
}
