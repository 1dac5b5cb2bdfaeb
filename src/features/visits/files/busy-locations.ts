/** The locations at which work is running. A storage may never respond, so that later runs would pile up behind the first one. */
export class BusyLocations {
  readonly #keys = new Set<string>();

  /** Runs work at a location, unless earlier work that this object has started there is still running. @throws what `work` throws */
  async runUnlessBusy(location: string, work: () => Promise<void>): Promise<void> {
    if (this.#keys.has(location)) return;
    this.#keys.add(location);
    try {
      await work();
    } finally {
      this.#keys.delete(location);
    }
  }
}
