import { StorageUnavailable } from '#ports/storage-errors.ts';

const minRemaining = 300_000; // ms: a secret is fetched again this long before it expires
const minInterval = 30_000; // ms between two requests while the cached secret is still valid

export interface Expiring {
  /** ms since the epoch; null: never. */
  readonly expires: number | null;
}

/** A secret that expires. All requests share it until a new one is fetched, shortly before that. */
export class TemporarySecret<T extends Expiring> {
  readonly #now: () => number;
  readonly #fetchNew: () => Promise<T>;
  readonly #failure: string;
  #cached: T | null = null;
  #pendingRequest: Promise<T> | null = null;
  #requestEndedAt = Number.NEGATIVE_INFINITY;

  /** @param now ms since the epoch @param failure text of the error if no secret can be fetched */
  constructor(now: () => number, fetchNew: () => Promise<T>, failure: string) {
    this.#now = now;
    this.#fetchNew = fetchNew;
    this.#failure = failure;
  }

  /** Returns a valid secret. If it expires soon, tries to fetch a new one first, at most every 30 s. @throws StorageUnavailable */
  async get(): Promise<T> {
    const cached = this.#cached;
    if (cached && !this.#isDue(cached)) return cached;
    try {
      return await this.#request();
    } catch (cause) {
      if (cached && this.#remaining(cached) > 0) return cached;
      throw new StorageUnavailable(this.#failure, { cause });
    }
  }

  /** Returns the ms until a secret expires. */
  #remaining({ expires }: T): number {
    return (expires ?? Number.POSITIVE_INFINITY) - this.#now();
  }

  /** Returns whether to fetch a new secret. */
  #isDue(cached: T): boolean {
    const remaining = this.#remaining(cached);
    return remaining <= 0 || (remaining <= minRemaining && this.#now() - this.#requestEndedAt >= minInterval);
  }

  /** Fetches a new secret. Callers at the same moment share one request. */
  #request(): Promise<T> {
    this.#pendingRequest ??= this.#fetchAndCache().finally(() => {
      this.#pendingRequest = null;
      this.#requestEndedAt = this.#now();
    });
    return this.#pendingRequest;
  }

  async #fetchAndCache(): Promise<T> {
    this.#cached = await this.#fetchNew();
    return this.#cached;
  }
}
