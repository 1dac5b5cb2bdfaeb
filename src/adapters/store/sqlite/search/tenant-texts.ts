import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { SearchedRecords } from '#ports/search.ts';
import { indexBytes, type TextIndex, type TextRecord, textIndex } from './text-index.ts';

/** A record whose text may have changed. */
export interface ChangedRecord extends SearchedRecords {
  readonly id: number;
}

/** The texts of all searched tenants in memory, the same as in the database. */
export interface TenantTexts {
  /** Returns the index of a tenant's texts, or null if they do not fit in the memory limit. */
  get(texts: SearchedRecords): Promise<TextIndex | null>;
  /** Reads texts that may be searched next, if no others must be evicted for them. */
  preload(texts: SearchedRecords): void;
  /** Updates the texts of records that may have changed. */
  applyChanges(records: readonly ChangedRecord[]): void;
}

interface CacheEntry extends SearchedRecords {
  index: TextIndex | null;
  /** Whether it was searched for a word. Only then are other entries evicted for it. */
  searched: boolean;
  /** Bytes that it will use, while it loads. */
  reserved: number;
  /** The running load, shared by all searches that wait for it. */
  loading: Promise<void> | null;
  /** Ids of the records that changed while it loaded. */
  readonly changedIds: Set<number>;
}

const batchSize = 2000; // records read at once; other requests run in between
const measureBatchSize = 20_000; // records measured at once: only the length of their text is read
const columns = {
  share: 'id, location_id AS container, search_text AS text FROM share',
  access_user: 'id, 0 AS container, search_text AS text FROM access_user',
};
const lengths = (table: SearchedRecords['table']) =>
  `SELECT count(*) AS records, coalesce(sum(octet_length(search_text) + 1), 0) AS bytes, coalesce(max(id), 0) AS last
    FROM (SELECT id, search_text FROM ${table} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${measureBatchSize})`;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Caches the texts of tenants: loads them at the first search and applies reported changes. Evicts the texts that were
 * searched longest ago.
 * @param maxBytes memory limit of all texts
 */
export function tenantTexts({ run }: Connection, maxBytes: number): TenantTexts {
  const entries = new Map<string, CacheEntry>();
  let growth = 0; // bytes by which the entries have grown since the last check of the limit
  const rows = (sql: string, ...parameters: number[]) => run(sql, parameters).rows as TextRecord[]; // safe: STRICT columns have these types

  function readRecord({ table, tid, index }: CacheEntry, id: number): void {
    const [row] = rows(`SELECT ${columns[table]} WHERE tid = ? AND id = ?`, tid, id);
    if (row) index?.set(row);
    else index?.remove(id);
  }

  async function measure({ table, tid }: SearchedRecords): Promise<{ records: number; bytes: number }> {
    const size = { records: 0, bytes: 0 };
    for (let last = 0; ; ) {
      const [part] = run(lengths(table), [tid, last]).rows as { records: number; bytes: number; last: number }[]; // what the query selects
      size.records += part?.records ?? 0;
      size.bytes += part?.bytes ?? 0;
      if (!part || part.records < measureBatchSize) return size;
      last = part.last;
      await nextTurn();
    }
  }

  const isLarge = (bytes: number) => bytes > maxBytes / 8;
  const bytesOf = ({ index, reserved }: CacheEntry) => index?.bytes() ?? reserved;
  const sumBytes = (list: readonly CacheEntry[]) => list.reduce((bytes, entry) => bytes + bytesOf(entry), 0);
  const othersThan = (except: CacheEntry) => [...entries.values()].filter((entry) => entry !== except);
  const hasSpace = (needed: number, except: CacheEntry) => sumBytes(othersThan(except)) + needed <= maxBytes;

  /** Evicts other entries. A large entry is evicted only to make room for another large one: rebuilding it is expensive. */
  function makeSpace(needed: number, target: CacheEntry): boolean {
    const isEvictable = (entry: CacheEntry) => entry !== target && !entry.loading && (isLarge(needed) || !isLarge(bytesOf(entry)));
    if (sumBytes(othersThan(target).filter((entry) => !isEvictable(entry))) + needed > maxBytes) return false;
    let used = sumBytes(othersThan(target)) + needed;
    for (const [key, entry] of entries) {
      if (used <= maxBytes) return true;
      if (!isEvictable(entry)) continue;
      used -= bytesOf(entry);
      entries.delete(key);
    }
    return used <= maxBytes;
  }

  async function load(entry: CacheEntry): Promise<void> {
    const { table, tid, changedIds } = entry;
    entry.index = null;
    const needed = indexBytes(await measure(entry));
    const fits = entry.searched ? makeSpace(needed, entry) : hasSpace(needed, entry);
    if (!fits) return changedIds.clear();
    entry.reserved = needed;
    const index = textIndex();
    for (let last = 0; ; ) {
      const part = rows(`SELECT ${columns[table]} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${batchSize}`, tid, last);
      index.append(part);
      if (part.length < batchSize) break;
      last = part.at(-1)?.id ?? last;
      await nextTurn();
    }
    entry.index = index;
    for (const id of changedIds) applyChange(entry, id);
    changedIds.clear();
  }

  /** Applies a change of one record. If the texts outgrow the limit, evicts others, or else this entry until its next search. */
  function applyChange(entry: CacheEntry, id: number): void {
    const before = bytesOf(entry);
    readRecord(entry, id);
    growth += Math.max(0, bytesOf(entry) - before);
    if (growth < maxBytes / 64) return;
    growth = 0;
    if (!makeSpace(bytesOf(entry), entry)) entries.delete(keyOf(entry));
  }

  const keyOf = ({ table, tid }: SearchedRecords) => `${table} ${tid}`;
  /** Returns the entry of a tenant and marks it as the last used one. */
  function touchEntry({ table, tid }: SearchedRecords): CacheEntry {
    const key = keyOf({ table, tid });
    const entry = entries.get(key) ?? {
      table,
      tid,
      index: null,
      searched: false,
      reserved: 0,
      loading: null,
      changedIds: new Set(),
    };
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }
  async function loadedIndex(entry: CacheEntry): Promise<TextIndex | null> {
    if (!entry.loading && !entry.index)
      entry.loading = load(entry).finally(() => {
        entry.loading = null;
        entry.reserved = 0;
      });
    await entry.loading;
    return entry.index;
  }

  return {
    async get(texts) {
      const entry = touchEntry(texts);
      entry.searched = true;
      return loadedIndex(entry);
    },
    preload(texts) {
      if (!entries.has(keyOf(texts))) loadedIndex(touchEntry(texts)).catch(() => {}); // the next search reports the error
    },
    applyChanges(records) {
      for (const { table, tid, id } of records) {
        const entry = entries.get(keyOf({ table, tid }));
        if (entry?.loading) entry.changedIds.add(id);
        else if (entry?.index) applyChange(entry, id);
      }
    },
  };
}
