import { ItemsByGroup } from '#core/items-by-group.ts';

/**
 * Cached entries of the providers of all tenants. A new entry never displaces one of a tenant with fewer entries.
 */
export class TenantEntries<Entry> {
  readonly #limits: { readonly all: number; readonly tenant: number };
  readonly #entries = new Map<string, { readonly tid: number; readonly entry: Entry }>();
  readonly #keys = new ItemsByGroup<string>(); // by tenant

  /** @param limits how many entries are cached in total and of one tenant */
  constructor(limits: { readonly all: number; readonly tenant: number }) {
    this.#limits = limits;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)?.entry;
  }

  /**
   * Sets an entry as the newest of its tenant. If there are too many entries, deletes the oldest one of this tenant, or of the tenant with
   * the most entries.
   * @param key unique among all tenants
   */
  set(key: string, tid: number, entry: Entry): void {
    this.#delete(key);
    const own = this.#keys.itemsOf(`${tid}`);
    if (own.size >= this.#limits.tenant) this.#deleteOldest(own);
    else if (this.#entries.size >= this.#limits.all) this.#deleteOldest(this.#keys.largest);
    this.#entries.set(key, { tid, entry });
    this.#keys.add(`${tid}`, key);
  }

  #deleteOldest(keys: ReadonlySet<string>): void {
    const [oldest] = keys;
    if (oldest !== undefined) this.#delete(oldest);
  }

  #delete(key: string): void {
    const deleted = this.#entries.get(key);
    if (!deleted) return;
    this.#entries.delete(key);
    this.#keys.remove(`${deleted.tid}`, key);
  }
}
