/** Requests that wait, by the large groups that they belong to. No step takes longer when more of them wait, except `findNewestOfLargest`. */
export class WaitingGroups<Request extends { readonly largeGroups: readonly string[] }> {
  /** The requests of each group, in the order of arrival. */
  readonly #requests = new Map<string, Set<Request>>();
  /** Names of the groups of each size. */
  readonly #groups = new Map<number, Set<string>>();
  #largestSize = 0;

  /** Returns the number of requests in the largest of the groups of a request. */
  sizeOf({ largeGroups }: Request): number {
    return Math.max(...largeGroups.map((name) => this.#requests.get(name)?.size ?? 0));
  }

  /** Number of requests in the largest group. */
  get largestSize(): number {
    return this.#largestSize;
  }

  /** Returns the newest request of the largest group, or of one of several. Takes time in proportion to the size of this group. */
  findNewestOfLargest(): Request | undefined {
    const [name = ''] = this.#groups.get(this.#largestSize) ?? [];
    return [...(this.#requests.get(name) ?? [])].at(-1);
  }

  add(request: Request): void {
    for (const name of request.largeGroups) {
      const requests = this.#requests.get(name) ?? new Set();
      this.#requests.set(name, requests);
      const before = requests.size;
      requests.add(request);
      this.#move(name, before, requests.size);
    }
  }

  remove(request: Request): void {
    for (const name of request.largeGroups) {
      const requests = this.#requests.get(name);
      if (!requests?.delete(request)) continue;
      if (requests.size === 0) this.#requests.delete(name);
      this.#move(name, requests.size + 1, requests.size);
    }
  }

  /** Records the new size of a group. It differs from the former one by one at most. */
  #move(name: string, from: number, to: number): void {
    if (from === to) return;
    const former = this.#groups.get(from);
    former?.delete(name);
    if (former?.size === 0) this.#groups.delete(from);
    if (to > 0) this.#groups.set(to, (this.#groups.get(to) ?? new Set()).add(name));
    if (to > this.#largestSize || !this.#groups.has(this.#largestSize)) this.#largestSize = to;
  }
}
