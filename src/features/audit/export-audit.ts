import { stringify } from 'csv-stringify/sync';
import Type from 'typebox';
import { AuditEntry } from '#core/records/audit-entry.ts';
import { type InTurn, type StreamedResponse, stream } from '#features/operation.ts';
import { parsePage } from '#features/records/record-search.ts';
import type { Tx } from '#ports/store.ts';
import { auditFilter, auditRecords, entryBytes, selectAuditEntries } from './audit-records.ts';

const batch = { rows: 1000, bytes: 1 << 20 };
const columns = Object.keys(AuditEntry.properties);

const formats = {
  ndjson: {
    contentType: 'application/x-ndjson',
    head: '',
    write: (rows: AuditEntry[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: stringify([columns]),
    // A cell that a spreadsheet would take for a formula is written so that it does not.
    write: (rows: AuditEntry[]) => stringify(rows, { columns, escape_formulas: true }),
  },
} as const;

/** The first rows that are one batch together; at least one. */
function firstBatch(found: readonly { readonly id: number; readonly size: number }[]): number[] {
  let bytes = 0;
  return found.flatMap(({ id, size }, index) => {
    bytes += size;
    return index === 0 || bytes <= batch.bytes ? [id] : [];
  });
}

/** Yields page after page by key: one page is in memory, and each takes its turn, so that a slow reader holds none. */
async function* rows(found: ReturnType<typeof selectAuditEntries>, db: Tx, tid: number, inTurn: InTurn): AsyncGenerator<AuditEntry[]> {
  const newest = await inTurn(() => found.select('id').orderBy('id', 'desc').limit(1).executeTakeFirst());
  const end = newest?.id ?? 0;
  const page = async (last: number) => {
    const sizes = found
      .select(['id', entryBytes.as('size')])
      .where('id', '>', last)
      .where('id', '<=', end)
      .orderBy('id')
      .limit(batch.rows);
    const ids = firstBatch(await sizes.execute());
    return { ids, records: ids.length === 0 ? [] : await auditRecords(db, tid, ids) };
  };
  for (let last = 0; last < end; ) {
    const from = last;
    const { ids, records } = await inTurn(() => page(from));
    if (ids.length === 0) return;
    yield records;
    last = ids.at(-1) ?? last;
  }
}

export const exportAudit = stream({
  name: 'audit/export',
  method: 'GET',
  role: 'admin',
  summary: 'Streams what happened, as NDJSON or CSV.',
  body: Type.Object(
    {
      ...auditFilter,
      searchWord: Type.Optional(Type.String({ maxLength: 255, description: 'Substring.' })),
      fromDate: Type.Optional(Type.String({ format: 'date-time', description: 'From this instant on.' })),
      toDate: Type.Optional(Type.String({ format: 'date-time', description: 'Up to this instant.' })),
      format: Type.Optional(Type.Enum(['ndjson', 'csv'], { description: 'Default ndjson.' })),
    },
    { additionalProperties: false },
  ),
  async stream({ format = 'ndjson', ...query }, caller, { store }, inTurn): Promise<StreamedResponse> {
    const { contentType, head, write } = formats[format];
    const found = selectAuditEntries(store, caller.tid, query, parsePage(query, { id: 'audit.id' }));
    async function* body() {
      if (head) yield head;
      for await (const part of rows(found, store.search, caller.tid, inTurn)) yield write(part);
    }
    return { contentType, fileName: `audit.${format}`, body: body() };
  },
});
