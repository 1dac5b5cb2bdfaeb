/** The locations at which work is running. Another run there is skipped, so that runs do not pile up if a storage never responds. */
export class BusyLocations {
  readonly #keys = new Set<string>();

  /** Runs work at a location, unless earlier work that this object has started there is still running. @throws what `work` throws */
  async runUnlessBusy(tid: number, locationId: number, work: () => Promise<void>): Promise<void> {
    const key = `${tid} ${locationId}`;
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    try {
      await work();
    } finally {
      this.#keys.delete(key);
    }
  }
}
