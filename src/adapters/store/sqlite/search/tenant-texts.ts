import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { SearchScope } from '#ports/search.ts';
import { indexBytes, TextIndex, type TextRecord } from './text-index.ts';

/** A record whose text may have changed. */
export interface ChangedRecord extends SearchScope {
  readonly id: number;
}

interface CacheEntry extends SearchScope {
  index: TextIndex | null;
  /** Whether the texts were searched for a word. If not, loading them evicts no other entries. */
  wasSearched: boolean;
  /** While the texts load: the bytes that they will use. Otherwise 0. */
  reservedBytes: number;
  /** The running load, shared by all searches that wait for it. */
  loading: Promise<void> | null;
  /** Ids of the records that changed while the texts were loading. */
  readonly changedIds: Set<number>;
}

const batchSize = 2000; // records read at once; other requests run in between
const measureBatchSize = 20_000; // records measured at once: only the length of their text is read
const columns = {
  share: 'id, location_id AS container, search_text AS text FROM share',
  access_user: 'id, 0 AS container, search_text AS text FROM access_user',
};
const lengths = (table: SearchScope['table']) =>
  `SELECT count(*) AS records, coalesce(sum(octet_length(search_text) + 1), 0) AS bytes, coalesce(max(id), 0) AS last
    FROM (SELECT id, search_text FROM ${table} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${measureBatchSize})`;
const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

const keyOf = ({ table, tid }: SearchScope) => `${table} ${tid}`;
const bytesOf = ({ index, reservedBytes }: CacheEntry) => index?.bytes ?? reservedBytes;
const sumBytes = (list: readonly CacheEntry[]) => list.reduce((bytes, entry) => bytes + bytesOf(entry), 0);

/**
 * Keeps the texts of tenants in memory for searches. Loads them at the first search or before it, and applies the reported changes.
 * Evicts the least recently used texts.
 */
export class TenantTexts {
  readonly #connection: Connection;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, CacheEntry>();
  #growth = 0; // bytes by which the entries have grown since the last check of the limit

  /** @param maxBytes memory limit of all texts */
  constructor(connection: Connection, maxBytes: number) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
  }

  /** Returns the index of a tenant's texts, or null if they do not fit in the memory limit. */
  get(texts: SearchScope): Promise<TextIndex | null> {
    const entry = this.#touchEntry(texts);
    entry.wasSearched = true;
    return this.#loadedIndex(entry);
  }

  /** Reads texts that may be searched next, if no others must be evicted for them. */
  preload(texts: SearchScope): void {
    if (!this.#entries.has(keyOf(texts))) this.#loadedIndex(this.#touchEntry(texts)).catch(() => {}); // the next search reports the error
  }

  /** Updates the texts of records that may have changed. */
  applyChanges(records: readonly ChangedRecord[]): void {
    for (const { table, tid, id } of records) {
      const entry = this.#entries.get(keyOf({ table, tid }));
      if (entry?.loading) entry.changedIds.add(id);
      else if (entry?.index) this.#applyChange(entry, id);
    }
  }

  /** Returns the entry of a tenant and marks it as the most recently used one. */
  #touchEntry({ table, tid }: SearchScope): CacheEntry {
    const key = keyOf({ table, tid });
    const newEntry = { table, tid, index: null, wasSearched: false, reservedBytes: 0, loading: null, changedIds: new Set<number>() };
    const entry = this.#entries.get(key) ?? newEntry;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  async #loadedIndex(entry: CacheEntry): Promise<TextIndex | null> {
    if (!entry.loading && !entry.index)
      entry.loading = this.#load(entry).finally(() => {
        entry.loading = null;
        entry.reservedBytes = 0;
      });
    await entry.loading;
    return entry.index;
  }

  async #load(entry: CacheEntry): Promise<void> {
    const { table, tid, changedIds } = entry;
    entry.index = null;
    const needed = indexBytes(await this.#measure(entry));
    const fits = entry.wasSearched ? this.#makeSpace(needed, entry) : sumBytes(this.#othersThan(entry)) + needed <= this.#maxBytes;
    if (!fits) return changedIds.clear();
    entry.reservedBytes = needed;
    const index = new TextIndex();
    for (let last = 0; ; ) {
      const part = this.#rows(`SELECT ${columns[table]} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${batchSize}`, tid, last);
      index.append(part);
      if (part.length < batchSize) break;
      last = part.at(-1)?.id ?? last;
      await nextIteration();
    }
    entry.index = index;
    for (const id of changedIds) this.#applyChange(entry, id);
    changedIds.clear();
  }

  async #measure({ table, tid }: SearchScope): Promise<{ records: number; bytes: number }> {
    const size = { records: 0, bytes: 0 };
    for (let last = 0; ; ) {
      // The cast is safe: the query selects these columns.
      const [part] = this.#connection.run(lengths(table), [tid, last]).rows as { records: number; bytes: number; last: number }[];
      size.records += part?.records ?? 0;
      size.bytes += part?.bytes ?? 0;
      if (!part || part.records < measureBatchSize) return size;
      last = part.last;
      await nextIteration();
    }
  }

  /** Applies a change of one record. If all texts together outgrow the limit, evicts others; if that is not enough, this entry. */
  #applyChange(entry: CacheEntry, id: number): void {
    const before = bytesOf(entry);
    this.#readRecord(entry, id);
    this.#growth += Math.max(0, bytesOf(entry) - before);
    if (this.#growth < this.#maxBytes / 64) return;
    this.#growth = 0;
    if (!this.#makeSpace(bytesOf(entry), entry)) this.#entries.delete(keyOf(entry));
  }

  #readRecord({ table, tid, index }: CacheEntry, id: number): void {
    const [row] = this.#rows(`SELECT ${columns[table]} WHERE tid = ? AND id = ?`, tid, id);
    if (row) index?.set(row);
    else index?.remove(id);
  }

  #rows(sql: string, ...parameters: number[]): TextRecord[] {
    return this.#connection.run(sql, parameters).rows as TextRecord[]; // safe: STRICT columns have these types
  }

  #othersThan(except: CacheEntry): CacheEntry[] {
    return [...this.#entries.values()].filter((entry) => entry !== except);
  }

  #isLarge(bytes: number): boolean {
    return bytes > this.#maxBytes / 8;
  }

  /** Evicts other entries, a large one only for another large one: rebuilding it is expensive. @returns whether `needed` bytes fit */
  #makeSpace(needed: number, target: CacheEntry): boolean {
    const isEvictable = (entry: CacheEntry) =>
      entry !== target && !entry.loading && (this.#isLarge(needed) || !this.#isLarge(bytesOf(entry)));
    const others = this.#othersThan(target);
    if (sumBytes(others.filter((entry) => !isEvictable(entry))) + needed > this.#maxBytes) return false;
    let used = sumBytes(others) + needed;
    for (const [key, entry] of this.#entries) {
      if (used <= this.#maxBytes) return true;
      if (!isEvictable(entry)) continue;
      used -= bytesOf(entry);
      this.#entries.delete(key);
    }
    return used <= this.#maxBytes;
  }
}
