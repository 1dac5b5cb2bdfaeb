import { StorageUnavailable } from '#ports/storage-errors.ts';

const minRemaining = 300_000; // ms: a secret is fetched again this long before it expires

export interface Expiring {
  /** ms since the epoch; null: never. */
  readonly expires: number | null;
}

/** A secret that expires. All requests share it until then. */
export class TemporarySecret<T extends Expiring> {
  readonly #now: () => number;
  readonly #fetchNew: () => Promise<T>;
  readonly #failure: string;
  #latestRequest: Promise<T> | null = null;

  /** @param now ms since the epoch @param failure text of the error if none can be fetched */
  constructor(now: () => number, fetchNew: () => Promise<T>, failure: string) {
    this.#now = now;
    this.#fetchNew = fetchNew;
    this.#failure = failure;
  }

  /** Returns a valid secret. @throws StorageUnavailable */
  async get(): Promise<T> {
    const request = this.#request();
    const secret = await this.#resultOf(request);
    if (secret.expires === null || secret.expires - this.#now() > minRemaining) return secret;
    this.#discard(request);
    return this.#resultOf(this.#request());
  }

  /** Returns the latest request for the secret. Sends one if there is none. */
  #request(): Promise<T> {
    this.#latestRequest ??= this.#fetchNew();
    return this.#latestRequest;
  }

  async #resultOf(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (cause) {
      this.#discard(request);
      throw new StorageUnavailable(this.#failure, { cause });
    }
  }

  /** Lets the next caller send a new request, unless another caller has already sent one. */
  #discard(request: Promise<T>): void {
    if (this.#latestRequest === request) this.#latestRequest = null;
  }
}
