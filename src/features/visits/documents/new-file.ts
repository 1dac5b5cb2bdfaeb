import { type DeliveryForm, needsSignature } from '#core/authorization/delivery.ts';
import { withDocumentErrors } from '#features/documents/document-errors.ts';
import { findSigner, type SignPorts, signPdf } from '#features/signatures/sign-pdf.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { PageMark, SourceDocument } from '#ports/documents.ts';

/**
 * Returns the bytes of a new file: the document with the watermark, the signature, or both. The document is marked first, then signed.
 * @param mark null: the form needs none
 * @throws Refusal (403) if the document cannot be marked or signed; (413) if it is too large; (503) if documents cannot be drawn or signed
 *   now
 */
export async function makeNewFile(
  ports: SignPorts,
  visit: AuthorizedVisit,
  source: SourceDocument,
  form: DeliveryForm,
  mark: PageMark | null,
): Promise<Uint8Array> {
  const { documents } = ports;
  const { tid, digital_sign_reason: reason } = visit.link;
  const signer = needsSignature(form) ? await findSigner(ports, tid) : null;
  const bytes = mark ? await withDocumentErrors('cannotBeMarked', () => documents.mark(source, mark)) : await source.read();
  return signer ? withDocumentErrors('cannotBeSigned', () => signPdf(ports, signer, source, bytes, reason)) : bytes;
}
