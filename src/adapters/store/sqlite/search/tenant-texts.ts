import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { SearchedRecords } from '#ports/search.ts';
import { spaceFor, type TextIndex, type TextRecord, textIndex } from './text-index.ts';

/** A record whose text may have changed. */
export interface ChangedRecord extends SearchedRecords {
  readonly id: number;
}

/** The texts of all tenants that are searched, as they are in the database. */
export interface TenantTexts {
  /** @returns null where they are more than memory is given for */
  of(texts: SearchedRecords): Promise<TextIndex | null>;
  /** Reads what may be searched next, where nothing else has to make room for it. */
  expect(texts: SearchedRecords): void;
  changed(records: readonly ChangedRecord[]): void;
}

interface Known extends SearchedRecords {
  index: TextIndex | null;
  /** Has a word been looked for in it, so that others make room for it? */
  searched: boolean;
  /** Bytes that it will take, while it is loaded. */
  reserved: number;
  /** Loads it; those that ask meanwhile wait for the same. */
  loading: Promise<void> | null;
  /** What changed while it was loaded. */
  readonly meanwhile: Set<number>;
}

const slice = 2000; // records read in one go, so that others are answered in between
const measured = 20_000; // the same, of which only the length is asked
const columns = {
  share: 'id, location_id AS container, search_text AS text FROM share',
  access_user: 'id, 0 AS container, search_text AS text FROM access_user',
};
const lengths = (table: SearchedRecords['table']) =>
  `SELECT count(*) AS records, coalesce(sum(octet_length(search_text) + 1), 0) AS bytes, coalesce(max(id), 0) AS last
    FROM (SELECT id, search_text FROM ${table} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${measured})`;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Loads a tenant's texts when they are first searched and follows what is told to have changed; those that were
 * searched longest ago make room.
 * @param mostBytes memory for all of them
 */
export function tenantTexts({ run }: Connection, mostBytes: number): TenantTexts {
  const known = new Map<string, Known>();
  let grown = 0; // bytes by which all have grown since they were last added up
  const rows = (sql: string, ...parameters: number[]) => run(sql, parameters).rows as TextRecord[]; // STRICT columns hold what they say

  function read({ table, tid, index }: Known, id: number): void {
    const [row] = rows(`SELECT ${columns[table]} WHERE tid = ? AND id = ?`, tid, id);
    if (row) index?.set(row);
    else index?.remove(id);
  }

  async function sizeOf({ table, tid }: SearchedRecords): Promise<{ records: number; bytes: number }> {
    const size = { records: 0, bytes: 0 };
    for (let last = 0; ; ) {
      const [part] = run(lengths(table), [tid, last]).rows as { records: number; bytes: number; last: number }[]; // what the query selects
      size.records += part?.records ?? 0;
      size.bytes += part?.bytes ?? 0;
      if (!part || part.records < measured) return size;
      last = part.last;
      await turn();
    }
  }

  const isLarge = (bytes: number) => bytes > mostBytes / 8;
  const bytesOf = ({ index, reserved }: Known) => index?.bytes() ?? reserved;
  const sum = (tenants: readonly Known[]) => tenants.reduce((bytes, tenant) => bytes + bytesOf(tenant), 0);
  const others = (but: Known) => [...known.values()].filter((tenant) => tenant !== but);
  const isRoom = (wanted: number, but: Known) => sum(others(but)) + wanted <= mostBytes;

  /** What is large is made again at a price: it goes only where something else as large comes. */
  function makeRoom(wanted: number, but: Known): boolean {
    const goes = (tenant: Known) => tenant !== but && !tenant.loading && (isLarge(wanted) || !isLarge(bytesOf(tenant)));
    if (sum(others(but).filter((tenant) => !goes(tenant))) + wanted > mostBytes) return false;
    let taken = sum(others(but)) + wanted;
    for (const [key, tenant] of known) {
      if (taken <= mostBytes) return true;
      if (!goes(tenant)) continue;
      taken -= bytesOf(tenant);
      known.delete(key);
    }
    return taken <= mostBytes;
  }

  async function load(tenant: Known): Promise<void> {
    const { table, tid, meanwhile } = tenant;
    tenant.index = null;
    const wanted = spaceFor(await sizeOf(tenant));
    const fits = tenant.searched ? makeRoom(wanted, tenant) : isRoom(wanted, tenant);
    if (!fits) return meanwhile.clear();
    tenant.reserved = wanted;
    const index = textIndex();
    for (let last = 0; ; ) {
      const part = rows(`SELECT ${columns[table]} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${slice}`, tid, last);
      index.append(part);
      if (part.length < slice) break;
      last = part.at(-1)?.id ?? last;
      await turn();
    }
    tenant.index = index;
    for (const id of meanwhile) follow(tenant, id);
    meanwhile.clear();
  }

  /** Follows a change. Where the texts have outgrown the memory others make room, or these are given up until they are searched. */
  function follow(tenant: Known, id: number): void {
    const before = bytesOf(tenant);
    read(tenant, id);
    grown += Math.max(0, bytesOf(tenant) - before);
    if (grown < mostBytes / 64) return;
    grown = 0;
    if (!makeRoom(bytesOf(tenant), tenant)) known.delete(keyOf(tenant));
  }

  const keyOf = ({ table, tid }: SearchedRecords) => `${table} ${tid}`;
  /** The tenant as the one that was asked for last. */
  function latest({ table, tid }: SearchedRecords): Known {
    const key = keyOf({ table, tid });
    const tenant = known.get(key) ?? {
      table,
      tid,
      index: null,
      searched: false,
      reserved: 0,
      loading: null,
      meanwhile: new Set(),
    };
    known.delete(key);
    known.set(key, tenant);
    return tenant;
  }
  async function loaded(tenant: Known): Promise<TextIndex | null> {
    if (!tenant.loading && !tenant.index)
      tenant.loading = load(tenant).finally(() => {
        tenant.loading = null;
        tenant.reserved = 0;
      });
    await tenant.loading;
    return tenant.index;
  }

  return {
    async of(texts) {
      const tenant = latest(texts);
      tenant.searched = true;
      return loaded(tenant);
    },
    expect(texts) {
      if (!known.has(keyOf(texts))) loaded(latest(texts)).catch(() => {}); // who searches is told
    },
    changed(records) {
      for (const { table, tid, id } of records) {
        const tenant = known.get(keyOf({ table, tid }));
        if (tenant?.loading) tenant.meanwhile.add(id);
        else if (tenant?.index) follow(tenant, id);
      }
    },
  };
}
