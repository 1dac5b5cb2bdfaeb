import { type DeliveryForm, type DeliveryRequest, deliver, needsMark } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import { withDocumentErrors } from '#features/documents/document-errors.ts';
import type { SignPorts } from '#features/signatures/sign-pdf.ts';
import {
  type AuthorizationPorts,
  type AuthorizedVisit,
  authorizeVisit,
  type VisitorRequest,
} from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { readHead, withReadErrors } from '#features/visits/files/open-file.ts';
import type { PageMark, SourceDocument } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';
import type { OpenFile } from '#ports/storage.ts';
import { sourceDocument } from './source-document.ts';
import { markOf } from './visit-mark.ts';

export type DocumentPorts = AuthorizationPorts &
  StoragePorts &
  Pick<Ports, 'media' | 'vault'> &
  SignPorts &
  Pick<VisitServices, 'documentTurns' | 'officeTurns' | 'drawnMemory'>;

/** What a visitor requests of a document, and the action for which the visitor needs a permission. */
export interface DocumentRequest {
  readonly action: 'view' | 'download';
  readonly delivery: Exclude<DeliveryRequest, 'downloadFolder'>;
}

/** A document that a visitor may see or download in some form. */
export interface ViewedDocument {
  readonly request: DocumentRequest;
  readonly visit: AuthorizedVisit<'view' | 'download'>;
  readonly file: OpenFile;
  readonly source: SourceDocument;
  readonly form: DeliveryForm;
  /** What is drawn over the pages; null: nothing is needed. */
  readonly mark: PageMark | null;
  /** The event for the audit log when the bytes are sent. */
  readonly event: VisitEvent;
}

const eventOf = ({ link, authenticated, visitorRequest }: AuthorizedVisit, action: string, path: ItemPath) => ({
  ...{ link, visitor: authenticated?.signedIn ?? null, visitorRequest, action, path: formatItemPath(path) },
});

/** Opens a document. @throws Refusal; if the share permits no form of the document, records this in the audit log */
async function openDocument(
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  request: DocumentRequest,
): Promise<ViewedDocument> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: request.action });
  const { link, permit } = visit;
  const baseEvent = { ...eventOf(visit, request.action, path), outcome: 'begun' } as const;
  const { storage, locationPath } = await storageFor(visit, ports);
  const pathInLocation = locationPath(path);
  const file = await withReadErrors(() => storage.open(pathInLocation));
  if (!file) throw new Refusal('itemAbsent');
  try {
    const { kind } = await ports.media.byBytes(await readHead(file));
    const delivery = deliver(request.delivery, permit.share, kind);
    if ('denial' in delivery) {
      const because = delivery.denial;
      ports.audit.recordInBackground({ ...baseEvent, outcome: 'refused', after: { because } });
      throw new Refusal(because);
    }
    const { form } = delivery;
    const mark = needsMark(form) ? markOf(ports, visit, baseEvent) : null;
    const event = mark ? { ...baseEvent, traceId: mark.traceId } : baseEvent;
    return { request, visit, file, source: sourceDocument(link, pathInLocation, file, kind), form, mark, event };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

/** Runs work on a document when it is the turn of the visitor. A visitor without permission is refused without a turn. @throws Refusal */
export async function withDocument<T>(
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  request: DocumentRequest,
  clientGone: AbortSignal,
  work: (document: ViewedDocument) => Promise<T>,
): Promise<T> {
  const { link } = await authorizeVisit(ports, visitorRequest, { action: request.action });
  const visitor = { ...visitorRequest, tid: link.tid };
  /** @param isOffice whether to wait for a turn of office documents @returns null if the document needs a turn of the other kind */
  async function attempt(isOffice: boolean): Promise<{ readonly result: T } | null> {
    const inTurn = isOffice ? ports.officeTurns : ports.documentTurns;
    return inTurn(visitor, clientGone, async (takeMemory) => {
      const document = await openDocument(ports, visitorRequest, path, request);
      try {
        if ((document.source.kind === 'office') !== isOffice) return null;
        await takeMemory(document.file.entry.size);
        return { result: await withDocumentErrors(document.mark === null ? 'hasNoPages' : 'cannotBeMarked', () => work(document)) };
      } finally {
        await document.file.close();
      }
    });
  }
  const answer = (await attempt(false)) ?? (await attempt(true));
  if (!answer) throw new Refusal('itemStale', 'The file was replaced. Try again.');
  return answer.result;
}

/** Returns whether a document may still be sent in the form and with the watermark that it has. */
export async function isStillPermitted({ request, visit, source, form }: ViewedDocument): Promise<boolean> {
  const permit = await visit.decideAgain();
  if (!permit) return false;
  const delivery = deliver(request.delivery, permit.share, source.kind);
  return 'form' in delivery && delivery.form === form && permit.share.waterMarkText === visit.permit.share.waterMarkText;
}

/** Begins the audit entry of bytes that are sent to the visitor. */
export function beginEntry(ports: DocumentPorts, { request, visit: { link }, file, event }: ViewedDocument): Promise<TransferEntry> {
  const alert = request.action === 'view' ? link.alert_view : link.alert_download;
  return ports.audit.beginTransfer(event, file.entry.etag, alert === 1);
}
