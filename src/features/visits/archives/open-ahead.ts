import type { OpenFile } from '#ports/storage.ts';
import type { PlacedItem } from './zip-plan.ts';

type Open = (item: PlacedItem) => Promise<OpenFile | null>;

/** Opens the next files of an archive while a file is sent, so that the archive does not wait for a remote storage at each file. */
export class OpenAhead {
  readonly #items: readonly PlacedItem[];
  readonly #open: Open;
  readonly #count: () => number;
  /** Index of the next item of `items` that is not opened yet. */
  #next = 0;
  readonly #opening = new Map<PlacedItem, Promise<OpenFile | null>>();

  /**
   * @param items files to open ahead, in this order. `open` accepts other items too
   * @param count returns how many files to open ahead now
   */
  constructor(items: readonly PlacedItem[], open: Open, count: () => number) {
    this.#items = items;
    this.#open = open;
    this.#count = count;
  }

  /** Opens a file, and starts to open the next files. */
  open(item: PlacedItem): Promise<OpenFile | null> {
    const opening = this.#opening.get(item) ?? this.#openNow(item);
    this.#opening.delete(item);
    this.#startNext();
    return opening;
  }

  /** Closes the files that were not used, as soon as they are open. Does not wait for a storage that does not respond. */
  close(): void {
    this.#next = this.#items.length;
    for (const opening of this.#opening.values()) opening.then((file) => file?.close()).catch(() => {});
    this.#opening.clear();
  }

  #openNow(item: PlacedItem): Promise<OpenFile | null> {
    if (item === this.#items[this.#next]) this.#next += 1;
    return this.#open(item);
  }

  #startNext(): void {
    const free = this.#count() - this.#opening.size;
    for (const item of this.#items.slice(this.#next, this.#next + Math.max(0, free))) {
      this.#next += 1;
      const opening = this.#open(item);
      opening.catch(() => {}); // the error is thrown when the file is used
      this.#opening.set(item, opening);
    }
  }
}
