const pauses = [10_000, 10_000, 30_000, 60_000] as const; // ms after the first failure, the second and so on; the last pause repeats

/**
 * Time in ms for which this process leaves a location to other processes, after it has given up the location. It is short, because the
 * other processes may have given up the location too.
 */
const givenUpTime = 60_000;

/** A location at which recovery or a sweep has failed. */
export interface LocationFailure {
  readonly tid: number;
  readonly name: string;
  readonly reason: string;
}

interface Failure {
  readonly count: number;
  /** Monotonic time in ms. */
  readonly retryAt: number;
  /** Text for the operator. */
  readonly reason: string;
}

/** The locations where recovery of changes has failed. Pauses between attempts grow, and only a new or changed reason is reported. */
export class FailingLocations {
  readonly #failures = new Map<string, Failure>();
  /** Monotonic time in ms at which this process has given up a location. */
  readonly #givenUp = new Map<string, number>();
  readonly #monotonic: () => number;

  /** @param monotonic returns a monotonic time in ms */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Returns how many failures at a location were added since the location was last removed from this object. */
  failureCount(location: string): number {
    return this.#failures.get(location)?.count ?? 0;
  }

  /** Leaves the changes at a location to other processes, because this one cannot reach the location. */
  giveUp(location: string): void {
    this.#givenUp.set(location, this.#monotonic());
  }

  /** Returns whether this process gave up a location within the last minute. */
  isGivenUp(location: string): boolean {
    const at = this.#givenUp.get(location);
    if (at === undefined) return false;
    if (this.#monotonic() - at < givenUpTime) return true;
    this.#givenUp.delete(location);
    return false;
  }

  /** Returns whether recovery may try a location now. */
  mayTry(location: string): boolean {
    return this.#monotonic() >= (this.#failures.get(location)?.retryAt ?? 0);
  }

  /** Adds a failure. @returns whether its reason differs from that of the failure before */
  add(location: string, reason: string): boolean {
    const previous = this.#failures.get(location);
    const count = (previous?.count ?? 0) + 1;
    const retryAt = this.#monotonic() + (pauses[Math.min(count, pauses.length) - 1] ?? pauses[0]);
    this.#failures.set(location, { count, retryAt, reason });
    return previous?.reason !== reason;
  }

  /** Removes a location, after everything there was recovered. */
  delete(location: string): void {
    this.#failures.delete(location);
  }

  /** Removes the failures of all locations that are not in `locations`. */
  keepOnly(locations: ReadonlyMap<string, unknown>): void {
    for (const location of this.#failures.keys()) if (!locations.has(location)) this.#failures.delete(location);
  }
}
