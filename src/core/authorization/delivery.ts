import type { ProfileRules, Protection, ShareRules } from './share-rules.ts';

/** Kind of a file, detected from its content. */
export type ContentKind = 'pdf' | 'image' | 'office' | 'audio' | 'video' | 'text' | 'other';

/**
 * What a visitor requests of a file: to view it, its pages as pictures, the text of its pages, to download it, or to download it in an
 * archive. The first three need the permission to view.
 */
export type DeliveryRequest = 'view' | 'pages' | 'text' | 'download' | 'downloadFolder';

/**
 * The form in which a file is sent: its original bytes, its pages as pictures, these with a watermark, the text of its pages, or a new
 * file: with the watermark in it, with a digital signature, or with both.
 */
export type DeliveryForm = 'original' | 'pages' | 'markedPages' | 'text' | 'marked' | 'signed' | 'markedAndSigned';

export const needsMark = (form: DeliveryForm): boolean => form === 'markedPages' || form === 'marked' || form === 'markedAndSigned';
export const needsSignature = (form: DeliveryForm): boolean => form === 'signed' || form === 'markedAndSigned';

/** Why a request for a file gets no form of the file. Another request for the same file may still get one. */
export type DeliveryDenial = 'copyProtected' | 'cannotBeMarked' | 'cannotBeViewed' | 'hasNoPages';

/** The form of a file, or why it is not sent. */
export type DeliveryDecision = { readonly form: DeliveryForm } | { readonly denial: DeliveryDenial };

/** An Office document has pages if LibreOffice is installed, which the renderer checks. No new file is made of it. */
const hasPages = (kind: ContentKind) => canBeMarked(kind) || kind === 'office';
const canBeMarked = (kind: ContentKind) => kind === 'pdf' || kind === 'image';

/** Returns whether no original file of a share may be sent. */
export function requiresWatermark(protection: Protection): boolean {
  return protection.copyProtect || protection.waterMarkText !== '';
}

/** Returns whether visitors must not download some of the originals. They get new files instead, or nothing. */
export function requiresNewFiles(protection: Protection): boolean {
  return requiresWatermark(protection) || protection.digitalSignature;
}

/** Seconds for which a signed address of a storage is valid. */
export const signedAddressLifetime = 60;

/**
 * Returns whether a visitor may download a file directly from its storage. The storage cannot check the rules of Postern. Therefore the
 * share must require no watermark and no signature and must not end while a signed
 * address is valid, and the login profile must have no address ranges.
 * @param now ms since the epoch
 */
export function mayDownloadDirectly(
  share: Protection & Pick<ShareRules, 'validTo'>,
  { ipRanges }: Pick<ProfileRules, 'ipRanges'>,
  now: number,
) {
  const isLongEnough = share.validTo === null || share.validTo - now > signedAddressLifetime * 1000;
  return !requiresNewFiles(share) && isLongEnough && ipRanges === '';
}

/** Returns whether visitors may read the text of the pages, which has no watermark and can be copied. */
export const mayReadText = (protection: Protection): boolean => !requiresWatermark(protection) || protection.copyProtectText;

function deliverText(protection: Protection, kind: ContentKind): DeliveryDecision {
  if (!hasPages(kind)) return { denial: requiresWatermark(protection) ? 'cannotBeMarked' : 'hasNoPages' };
  return mayReadText(protection) ? { form: 'text' } : { denial: 'copyProtected' };
}

/** Returns the form of a file of a share that requires a watermark, or why the file is not sent. */
function deliverMarked(request: DeliveryRequest, { copyProtect, digitalSignature }: Protection, kind: ContentKind): DeliveryDecision {
  if (request === 'pages' && hasPages(kind)) return { form: 'markedPages' };
  if (!canBeMarked(kind)) return { denial: 'cannotBeMarked' };
  if (request === 'view') return copyProtect ? { denial: 'copyProtected' } : { form: 'marked' };
  return { form: digitalSignature && kind === 'pdf' ? 'markedAndSigned' : 'marked' };
}

/** Returns in which form a file is sent, or why it is not sent (docs/integrator/access-rules.md, "Protected files"). */
export function deliver(request: DeliveryRequest, protection: Protection, kind: ContentKind): DeliveryDecision {
  if (request === 'text') return deliverText(protection, kind);
  const isDownload = request === 'download' || request === 'downloadFolder';
  if (isDownload && protection.copyProtect && protection.waterMarkText === '') return { denial: 'copyProtected' };
  if (requiresWatermark(protection)) return deliverMarked(request, protection, kind);
  if (isDownload && protection.digitalSignature && kind === 'pdf') return { form: 'signed' };
  if (request === 'pages') return hasPages(kind) ? { form: 'pages' } : { denial: 'hasNoPages' };
  return request === 'view' && (kind === 'office' || kind === 'other') ? { denial: 'cannotBeViewed' } : { form: 'original' };
}

const allKinds: readonly ContentKind[] = ['pdf', 'image', 'office', 'audio', 'video', 'text', 'other'];

/** Returns whether every file is sent in the same form, and with the same watermark text, after a change of the protection. */
export function hasSameForms(request: DeliveryRequest, before: Protection, after: Protection): boolean {
  if (before.waterMarkText !== after.waterMarkText) return false;
  const formOf = (protection: Protection, kind: ContentKind) => JSON.stringify(deliver(request, protection, kind));
  return allKinds.every((kind) => formOf(before, kind) === formOf(after, kind));
}
