import type { ContentKind } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { sha256 } from '#features/records/sha256.ts';
import { withReadErrors } from '#features/visits/files/open-file.ts';
import { readRange } from '#features/visits/files/read-range.ts';
import { DocumentUnusable, RendererUnavailable, type SourceDocument } from '#ports/documents.ts';
import type { OpenFile } from '#ports/storage.ts';

const maxDocumentBytes = 64 << 20;
const retryAfter = 10; // seconds

/** The location of a share. */
interface DocumentLocation {
  readonly tid: number;
  readonly location_id: number;
  readonly configuration: string;
}

/**
 * Returns a file as a document to draw. Its bytes are read only when they are needed.
 * @param path in the location
 * @throws Refusal (413) if it is too large
 */
export function sourceDocument(
  { tid, location_id, configuration }: DocumentLocation,
  path: ItemPath,
  file: OpenFile,
  kind: ContentKind,
): SourceDocument {
  const { size, etag } = file.entry;
  if (size > maxDocumentBytes) throw new Refusal('documentTooLarge', `The file has more than ${maxDocumentBytes >> 20} MiB.`);
  return {
    kind: kind === 'pdf' || kind === 'office' ? kind : 'image',
    tid,
    version: sha256(JSON.stringify([location_id, configuration, formatItemPath(path), etag, size])),
    read: () => withReadErrors(() => readRange(file, { start: 0, end: size - 1 })),
  };
}

const reasons = {
  damaged: 'The file is damaged, or its format is not supported.',
  encrypted: 'The file is encrypted.',
  certified: 'A signature in the file forbids every change.',
  needsLibreOffice: 'This server does not show Office documents.',
};

type UnusableName = 'hasNoPages' | 'cannotBeMarked' | 'cannotBeSigned';

function refusalOf(cause: unknown, unusable: UnusableName): unknown {
  if (cause instanceof RendererUnavailable) return new Refusal('documentsBusy', undefined, { retryAfter });
  if (!(cause instanceof DocumentUnusable)) return cause;
  if (cause.problem === 'noSuchPage') return new Refusal('pageAbsent');
  if (cause.problem === 'tooCostly') return new Refusal('documentTooLarge');
  return new Refusal(unusable, reasons[cause.problem]);
}

/**
 * Runs work on a document.
 * @param unusable the refusal if the document cannot be drawn, marked or signed
 * @throws Refusal (403, 404, 413, 415, 503) for an error of the renderer
 */
export async function withDocumentErrors<T>(unusable: UnusableName, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusalOf(cause, unusable);
  }
}
