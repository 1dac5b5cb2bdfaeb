import { stringify } from 'csv-stringify/sync';
import Type from 'typebox';
import { AuditEntry } from '#core/records/audit-entry.ts';
import { type RunInTurn, type StreamedResponse, streamOperation } from '#features/operation.ts';
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
    // Escapes cells that a spreadsheet would run as a formula.
    write: (rows: AuditEntry[]) => stringify(rows, { columns, escape_formulas: true }),
  },
} as const;

/** Returns the ids of the first entries that fit into one batch, at least one. */
function firstBatch(entries: readonly { readonly id: number; readonly size: number }[]): number[] {
  let bytes = 0;
  return entries.flatMap(({ id, size }, index) => {
    bytes += size;
    return index === 0 || bytes <= batch.bytes ? [id] : [];
  });
}

/** Yields the entries page by page, one page in memory. Each page waits for its own turn, so that a slow client blocks no turn. */
async function* readPages(
  entries: ReturnType<typeof selectAuditEntries>,
  db: Tx,
  tid: number,
  inTurn: RunInTurn,
): AsyncGenerator<AuditEntry[]> {
  const newest = await inTurn(() => entries.select('id').orderBy('id', 'desc').limit(1).executeTakeFirst());
  const end = newest?.id ?? 0;
  const readPage = async (lastId: number) => {
    const sizes = entries
      .select(['id', entryBytes.as('size')])
      .where('id', '>', lastId)
      .where('id', '<=', end)
      .orderBy('id')
      .limit(batch.rows);
    const ids = firstBatch(await sizes.execute());
    return { ids, records: ids.length === 0 ? [] : await auditRecords(db, tid, ids) };
  };
  for (let lastId = 0; lastId < end; ) {
    const previousId = lastId;
    const { ids, records } = await inTurn(() => readPage(previousId));
    if (ids.length === 0) return;
    yield records;
    lastId = ids.at(-1) ?? lastId;
  }
}

export const exportAudit = streamOperation({
  name: 'audit/export',
  method: 'GET',
  role: 'admin',
  summary: 'Exports the audit log as NDJSON or CSV.',
  body: Type.Object(
    {
      ...auditFilter,
      searchWord: Type.Optional(Type.String({ maxLength: 255, description: 'Case-insensitive substring of the text fields.' })),
      fromDate: Type.Optional(Type.String({ format: 'date-time', description: 'From this instant on.' })),
      toDate: Type.Optional(Type.String({ format: 'date-time', description: 'Up to and including this instant or day.' })),
      format: Type.Optional(Type.Enum(['ndjson', 'csv'], { description: 'Default ndjson.' })),
    },
    { additionalProperties: false },
  ),
  async stream({ format = 'ndjson', ...query }, caller, { store }, { inTurn, writeInTurn }): Promise<StreamedResponse> {
    const { contentType, head, write } = formats[format];
    const entries = selectAuditEntries(store, caller.tid, query, parsePage(query, { id: 'audit.id' }));
    async function* body() {
      if (head) yield head;
      for await (const page of readPages(entries, store.search, caller.tid, inTurn)) yield await writeInTurn(() => write(page));
    }
    return { contentType, fileName: `audit.${format}`, body: body() };
  },
});
