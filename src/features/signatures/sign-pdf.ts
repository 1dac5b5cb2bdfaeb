import { createHash } from 'node:crypto';
import { Refusal } from '#core/messages.ts';
import type { DocumentSender, SignaturePlace } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';
import { type SigningCertificate, type TimeStampAuthority, TimeStampUnavailable, TokenUnavailable } from '#ports/signatures.ts';
import { certificateDetails } from './certificate-details.ts';
import { findSignature, openSignature } from './stored-signature.ts';

const sliceBytes = 4 << 20; // hashed at once, so that other requests are handled in between
const retryAfter = 30; // seconds

export type SignPorts = Pick<Ports, 'store' | 'vault' | 'clock' | 'documents' | 'signatures'>;

/** What signs the files of a tenant. */
export interface Signer {
  readonly certificate: SigningCertificate;
  /** null: no time stamps. */
  readonly authority: TimeStampAuthority | null;
}

const unavailable = (detail: string) => new Refusal('signingUnavailable', detail);

/** Returns what signs the files of a tenant. @throws Refusal (503) if it has no certificate that can be used now */
export async function findSigner({ store, vault, clock, signatures }: SignPorts, tid: number): Promise<Signer> {
  const stored = await findSignature(store.read, tid);
  if (!stored) throw unavailable('No certificate for digital signatures is stored.');
  const certificate = openSignature(vault, stored);
  if (!certificate) throw unavailable('The certificate for digital signatures must be entered again.');
  const { key } = certificate;
  if ('tokenKeyId' in key && !signatures.tokenKeyIds(tid).includes(key.tokenKeyId))
    throw unavailable('The settings do not allow the key of the certificate.');
  const { validFrom, validTo } = certificateDetails(certificate);
  const now = clock.now();
  if (now > validTo) throw unavailable('The certificate for digital signatures has expired.');
  if (now < validFrom) throw unavailable('The certificate for digital signatures is not valid yet.');
  return { certificate, authority: stored.timestampUrl === '' ? null : { url: stored.timestampUrl, tid } };
}

/** Returns the SHA-256 of all bytes outside of the place. */
async function digestOf({ bytes, start, end }: SignaturePlace): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for (const part of [bytes.subarray(0, start), bytes.subarray(end)])
    for (let offset = 0; offset < part.length; offset += sliceBytes) {
      hash.update(part.subarray(offset, offset + sliceBytes));
      await new Promise(setImmediate);
    }
  return hash.digest();
}

/**
 * Returns a PDF with a signature (PAdES B-B, or B-T with a time-stamp authority).
 * @throws DocumentUnusable, RendererUnavailable; Refusal (503) if the time-stamp authority or the PKCS #11 token fails, or the signature is
 *   too long
 */
export async function signPdf(
  { documents, signatures, clock }: Pick<SignPorts, 'documents' | 'signatures' | 'clock'>,
  { certificate, authority }: Signer,
  sender: DocumentSender,
  pdf: Uint8Array,
  reason: string,
): Promise<Uint8Array> {
  const place = await documents.addSignaturePlace(sender, pdf, { at: clock.now(), reason });
  try {
    const signature = await signatures.sign(sender.tid, await digestOf(place), certificate, authority);
    const digits = Buffer.from(signature).toString('hex');
    if (digits.length > place.end - place.start - 2) throw unavailable('The signature is too long for its place.');
    place.bytes.set(Buffer.from(digits, 'latin1'), place.start + 1);
    return place.bytes;
  } catch (cause) {
    if (cause instanceof TimeStampUnavailable || cause instanceof TokenUnavailable)
      throw new Refusal('signingUnavailable', cause.message, { retryAfter });
    throw cause;
  }
}
