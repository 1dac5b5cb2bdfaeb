import type { Connection } from '#adapters/store/sqlite/connection.ts';
import type { Holding } from '#ports/search.ts';
import { spaceFor, type TextIndex, type TextRecord, textIndex } from './text-index.ts';

/** A record whose text may have changed. */
export interface Changed {
  readonly table: Holding['table'];
  readonly tid: number;
  readonly id: number;
}

/** The texts of all tenants that are searched, as they are in the database. */
export interface TenantTexts {
  /** @returns null where they are more than memory is given for */
  of(table: Holding['table'], tid: number): Promise<TextIndex | null>;
  changed(records: readonly Changed[]): void;
}

interface Known {
  readonly table: Holding['table'];
  readonly tid: number;
  index: TextIndex | null;
  /** Bytes that it will take, while it is loaded. */
  reserved: number;
  /** Loads it; those that ask meanwhile wait for the same. */
  loading: Promise<void> | null;
  /** What changed while it was loaded. */
  readonly meanwhile: Set<number>;
}

const slice = 4000; // records read in one go, so that others are answered in between
const columns = {
  share: 'id, location_id AS container, search_text AS text FROM share',
  access_user: 'id, 0 AS container, search_text AS text FROM access_user',
};
const sizeOf = (table: Holding['table']) =>
  `SELECT count(*) AS records, coalesce(sum(octet_length(search_text) + 1), 0) AS bytes FROM ${table} WHERE tid = ?`;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Loads a tenant's texts when they are first searched and follows what is told to have changed; those that were
 * searched longest ago make room.
 * @param mostBytes memory for all of them
 */
export function tenantTexts({ run }: Connection, mostBytes: number): TenantTexts {
  const known = new Map<string, Known>();
  const rows = (sql: string, ...parameters: number[]) => run(sql, parameters).rows as TextRecord[]; // STRICT columns hold what they say

  function read({ table, tid, index }: Known, id: number): void {
    const [row] = rows(`SELECT ${columns[table]} WHERE tid = ? AND id = ?`, tid, id);
    if (row) index?.set(row);
    else index?.remove(id);
  }

  const isLarge = (bytes: number) => bytes > mostBytes / 8;
  const bytesOf = ({ index, reserved }: Known) => index?.bytes() ?? reserved;

  /** What is large is made again at a price: it goes only where something else as large comes. */
  function makeRoom(wanted: number, but: Known): boolean {
    const goes = (tenant: Known) => tenant !== but && !tenant.loading && (isLarge(wanted) || !isLarge(bytesOf(tenant)));
    const sum = (tenants: readonly Known[]) => tenants.reduce((bytes, tenant) => bytes + bytesOf(tenant), 0);
    const all = [...known.values()];
    if (sum(all.filter((tenant) => tenant !== but && !goes(tenant))) + wanted > mostBytes) return false;
    let taken = sum(all.filter((tenant) => tenant !== but)) + wanted;
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
    const [size] = run(sizeOf(table), [tid]).rows as { records: number; bytes: number }[]; // what the query selects
    if (!size || !makeRoom(spaceFor(size), tenant)) return;
    tenant.reserved = spaceFor(size);
    const index = textIndex();
    for (let last = 0; ; ) {
      const part = rows(`SELECT ${columns[table]} WHERE tid = ? AND id > ? ORDER BY id LIMIT ${slice}`, tid, last);
      index.append(part);
      if (part.length < slice) break;
      last = part.at(-1)?.id ?? last;
      await turn();
    }
    tenant.index = index;
    for (const id of meanwhile) read(tenant, id);
    meanwhile.clear();
  }

  return {
    async of(table, tid) {
      const key = `${table} ${tid}`;
      const tenant = known.get(key) ?? { table, tid, index: null, reserved: 0, loading: null, meanwhile: new Set<number>() };
      known.delete(key); // what was searched last stands last
      known.set(key, tenant);
      if (!tenant.loading && !tenant.index)
        tenant.loading = load(tenant).finally(() => {
          tenant.loading = null;
          tenant.reserved = 0;
        });
      await tenant.loading;
      return tenant.index;
    },
    changed(records) {
      for (const { table, tid, id } of records) {
        const tenant = known.get(`${table} ${tid}`);
        if (tenant?.loading) tenant.meanwhile.add(id);
        else if (tenant?.index) read(tenant, id);
      }
    },
  };
}
