/** Items by group. Finds the largest group without scanning the others. */
export class ItemsByGroup<Item> {
  /** The items of each group, in the order in which they were added. */
  readonly #items = new Map<string, Set<Item>>();
  /** Names of the groups of each size. */
  readonly #names = new Map<number, Set<string>>();
  #largestSize = 0;

  /** Returns the items of a group, in the order in which they were added. */
  itemsOf(name: string): ReadonlySet<Item> {
    return this.#items.get(name) ?? new Set();
  }

  /** The items of the largest group, or of one of several equally large groups. Empty: there are no items. */
  get largest(): ReadonlySet<Item> {
    const [name = ''] = this.#names.get(this.#largestSize) ?? [];
    return this.itemsOf(name);
  }

  add(name: string, item: Item): void {
    const items = this.#items.get(name) ?? new Set();
    if (items.has(item)) return;
    this.#items.set(name, items.add(item));
    this.#resize(name, items.size - 1, items.size);
  }

  remove(name: string, item: Item): void {
    const items = this.#items.get(name);
    if (!items?.delete(item)) return;
    if (items.size === 0) this.#items.delete(name);
    this.#resize(name, items.size + 1, items.size);
  }

  /** Records the new size of a group, after one item was added or removed. */
  #resize(name: string, from: number, to: number): void {
    const formerNames = this.#names.get(from);
    formerNames?.delete(name);
    if (formerNames?.size === 0) this.#names.delete(from);
    if (to > 0) this.#names.set(to, (this.#names.get(to) ?? new Set()).add(name));
    if (to > this.#largestSize || !this.#names.has(this.#largestSize)) this.#largestSize = to;
  }
}
