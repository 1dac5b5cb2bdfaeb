import Type from 'typebox';
import { fieldRefusal } from '#core/messages.ts';
import { AuditEntry } from '#core/records/audit-entry.ts';
import { auditRecords } from '#features/audit/audit-records.ts';
import { readOperation } from '#features/operation.ts';
import { parseBase64 } from '#features/records/parse-base64.ts';
import type { Documents, SourceDocument, Trace } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { withDocumentErrors } from './document-errors.ts';

const maxFileBytes = 12 << 20;
const maxBase64Length = 4 * Math.ceil(maxFileBytes / 3);
const maxPages = 5; // in each of them, a search may take some seconds
const maxEntries = 100;
const versionBits = 96; // of `version`, so that the renderer does not take the document for another one

const TracedFile = Type.Object({
  found: Type.Boolean({ description: 'Whether a trace mark was found in the file.' }),
  page: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: 'Page on which the trace mark was found.' }),
  agreement: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description:
      'Part of the 1024 cells of the trace mark that agree with its number. About half of them do so by chance; the number is accepted only if its checksum is right.',
  }),
  entries: Type.Array(AuditEntry, {
    description:
      'The downloads and views by which the visitor got the file, the newest first, at most 100. Empty although `found` is true: the audit log no longer has them, or another installation or tenant made the file.',
  }),
});

/** @throws Refusal (400) at `file` */
async function documentOf(bytes: Buffer, tid: number, { media, random }: Pick<Ports, 'media' | 'random'>): Promise<SourceDocument> {
  if (bytes.length > maxFileBytes) throw fieldRefusal('file', `must have at most ${maxFileBytes >> 20} MiB`);
  const { kind } = await media.byBytes(bytes);
  if (kind !== 'pdf' && kind !== 'image') throw fieldRefusal('file', 'must be a PDF, JPEG, PNG or WebP file');
  return { kind, tid, group: 'audit/trace', version: random.token(versionBits), read: async () => bytes };
}

/**
 * Returns the trace mark of the first page on which one is found, within the first `maxPages`.
 * @throws DocumentUnusable, RendererUnavailable
 */
async function searchPages(documents: Documents, document: SourceDocument): Promise<(Trace & { readonly page: number }) | null> {
  const pages = await documents.pages(document);
  for (const index of pages.slice(0, maxPages).keys()) {
    const trace = await documents.findTrace(document, index);
    if (trace) return { ...trace, page: index + 1 };
  }
  return null;
}

async function entriesOf(db: Tx, tid: number, traceId: number): Promise<AuditEntry[]> {
  const rows = await db
    .selectFrom('audit')
    .select('id')
    .where('tid', '=', tid)
    .where('trace_id', '=', traceId)
    .orderBy('id', 'desc')
    .limit(maxEntries)
    .execute();
  return auditRecords(
    db,
    tid,
    rows.map(({ id }) => id),
  );
}

export const traceFile = readOperation({
  name: 'audit/trace',
  examinesFile: true,
  method: 'POST',
  role: 'admin',
  maxBodyBytes: maxBase64Length + 1024,
  summary: 'Finds out who has got a file with a watermark, from the file or from a picture of one of its pages.',
  body: Type.Object(
    {
      file: Type.String({
        minLength: 1, // the limit of the body limits its length: to count the characters of such a long text takes 0.1 s
        description: `A PDF, JPEG, PNG or WebP file in base64. The file itself has at most ${maxFileBytes >> 20} MiB. Of a PDF, the first ${maxPages} pages are searched.`,
      }),
    },
    { additionalProperties: false },
  ),
  response: TracedFile,
  async read({ file }, { tid }, ports) {
    const { documents, store } = ports;
    const document = await documentOf(parseBase64('file', file, 'a PDF, JPEG, PNG or WebP file'), tid, ports);
    const trace = await withDocumentErrors('hasNoPages', () => searchPages(documents, document));
    if (!trace) return { found: false, page: null, agreement: null, entries: [] };
    const { page, agreement, traceId } = trace;
    return { found: true, page, agreement, entries: await entriesOf(store.read, tid, traceId) };
  },
});
