import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { TransferEntry } from '#features/audit/visit-audit.ts';
import type { VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { PageSize } from '#ports/documents.ts';
import { makeNewFile } from './new-file.ts';
import {
  beginEntry,
  type DocumentPorts,
  type DocumentRequest,
  isStillPermitted,
  type ViewedDocument,
  withDocument,
} from './viewed-document.ts';

/** Bytes that were made for a visitor: a picture, text or a new file. Sent without ETag and ranges. Disposal gives their memory back. */
export interface DrawnBytes extends Disposable {
  readonly bytes: Uint8Array;
  readonly stillPermitted: () => Promise<boolean>;
  /** Commits the audit entry. Must be called before the first byte is sent. */
  readonly appendEntry: () => Promise<TransferEntry>;
}

/** A page as a picture or as text. */
export interface DrawnPage extends DrawnBytes {
  readonly mediaType: string;
}

const ofPages: DocumentRequest = { action: 'view', delivery: 'pages' };

/** @throws Refusal (503) if too many drawn bytes are being sent */
function drawnBytes(ports: DocumentPorts, document: ViewedDocument, bytes: Uint8Array): DrawnBytes {
  const memory = ports.drawnMemory(document.visit.visitorRequest.address, bytes);
  return {
    bytes,
    stillPermitted: () => isStillPermitted(document),
    appendEntry: () => beginEntry(ports, document),
    [Symbol.dispose]: () => memory[Symbol.dispose](),
  };
}

const drawnPage = (
  ports: DocumentPorts,
  document: ViewedDocument,
  { bytes, mediaType }: { readonly bytes: Uint8Array; readonly mediaType: string },
): DrawnPage => ({ ...drawnBytes(ports, document, bytes), mediaType });

/** Returns the sizes of the pages of a document. @throws Refusal */
export const documentPages = (
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  clientGone: AbortSignal,
): Promise<readonly PageSize[]> =>
  withDocument(ports, visitorRequest, path, ofPages, clientGone, ({ source }) => ports.documents.pages(source));

/**
 * Draws a page of a document.
 * @param number of the page, from 1
 * @param width of the picture, in pixels
 * @throws Refusal; (404) if there is no such page
 */
export const drawPage = (
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  { number, width }: { readonly number: number; readonly width: number },
  clientGone: AbortSignal,
): Promise<DrawnPage> =>
  withDocument(ports, visitorRequest, path, ofPages, clientGone, async (document) => {
    const { source, mark } = document;
    const request = { index: number - 1, bounds: { width, height: null }, mark };
    return drawnPage(ports, document, await ports.documents.draw(source, request));
  });

/** Returns the text of a page in UTF-8. @param number of the page, from 1 @throws Refusal; (404) if there is no such page */
export const pageText = (
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  number: number,
  clientGone: AbortSignal,
): Promise<DrawnPage> =>
  withDocument(ports, visitorRequest, path, { action: 'view', delivery: 'text' }, clientGone, async (document) =>
    drawnPage(ports, document, {
      bytes: Buffer.from(await ports.documents.text(document.source, number - 1)),
      mediaType: 'text/plain; charset=utf-8',
    }),
  );

/** Draws the first page of a document small. @param size of the longer side, in pixels @throws Refusal */
export const drawThumbnail = (
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  size: number,
  clientGone: AbortSignal,
): Promise<DrawnPage> =>
  withDocument(ports, visitorRequest, path, ofPages, clientGone, async (document) => {
    const { source, mark } = document;
    const bounds = { width: size, height: size };
    return drawnPage(ports, document, await ports.documents.draw(source, { index: 0, bounds, mark }));
  });

/** Returns a new file with the watermark or the signature, or both. @throws Refusal */
export const newFile = (
  ports: DocumentPorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  action: 'view' | 'download',
  clientGone: AbortSignal,
): Promise<DrawnBytes> =>
  withDocument(ports, visitorRequest, path, { action, delivery: action }, clientGone, async (document) => {
    const { source, form, visit, mark } = document;
    if (form === 'original') throw new Refusal('itemStale', 'The file or its protection was changed. Try again.');
    return drawnBytes(ports, document, await makeNewFile(ports, visit, source, form, mark));
  });
