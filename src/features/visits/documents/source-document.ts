import type { ContentKind } from '#core/authorization/delivery.ts';
import { formatItemPath, type ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { sha256 } from '#features/records/sha256.ts';
import { withReadErrors } from '#features/visits/files/open-file.ts';
import { readRange } from '#features/visits/files/read-range.ts';
import type { SourceDocument } from '#ports/documents.ts';
import type { OpenFile } from '#ports/storage.ts';

const maxDocumentBytes = 64 << 20;

/** A share, and its location. */
interface DocumentLocation {
  readonly id: number;
  readonly tid: number;
  readonly location_id: number;
  readonly configuration: string;
}

/**
 * Returns a file as a document to draw, mark or sign. Its bytes are read only when they are needed.
 * @param path in the location
 * @throws Refusal (413) if the file is too large
 */
export function sourceDocument(
  { id, tid, location_id, configuration }: DocumentLocation,
  path: ItemPath,
  file: OpenFile,
  kind: ContentKind,
): SourceDocument {
  const { size, etag } = file.entry;
  if (size > maxDocumentBytes) throw new Refusal('documentTooLarge', `The file has more than ${maxDocumentBytes >> 20} MiB.`);
  return {
    kind: kind === 'pdf' || kind === 'office' ? kind : 'image',
    tid,
    group: `share ${id}`,
    version: sha256(JSON.stringify([location_id, configuration, formatItemPath(path), etag, size])),
    read: () => withReadErrors(() => readRange(file, { start: 0, end: size - 1 })),
  };
}
