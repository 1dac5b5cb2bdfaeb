import type { Action } from './decide.ts';
import type { ProfileRules, Protection, ShareRules } from './share-rules.ts';

/** Kind of a file, detected from its content. */
export type ContentKind = 'pdf' | 'image' | 'audio' | 'video' | 'text' | 'other';

/** Why the original file must not be sent. */
export type DeliveryDenial = 'copyProtected' | 'cannotBeMarked' | 'markingUnavailable' | 'signingUnavailable' | 'cannotBeViewed';

const canBeWatermarked = (kind: ContentKind) => kind === 'pdf' || kind === 'image';

/**
 * Returns whether all files of a share need a watermark. If so, the download of a folder as a ZIP file is refused before any file is read.
 */
export function requiresWatermark(protection: Protection): boolean {
  return protection.copyProtect || protection.waterMarkText !== '';
}

/** Seconds for which a signed address of a storage is valid. */
export const signedAddressLifetime = 60;

/**
 * Returns whether a visitor may download a file directly from its storage. The storage cannot check the rules of Postern. Therefore the
 * file must need no watermark and no signature, the login profile must have no address ranges, and the share must not end while a signed
 * address is valid.
 * @param now ms since the epoch
 */
export function mayDownloadDirectly(
  share: Protection & Pick<ShareRules, 'validTo'>,
  { ipRanges }: Pick<ProfileRules, 'ipRanges'>,
  now: number,
) {
  const isOriginal = !requiresWatermark(share) && !share.digitalSignature;
  const isLongEnough = share.validTo === null || share.validTo - now > signedAddressLifetime * 1000;
  return isOriginal && isLongEnough && ipRanges === '';
}

/**
 * Returns why the original file must not be sent, or null if it may be.
 * Watermarks and signatures are not available yet. Until they are, files that need a watermark are refused. A PDF that must be signed
 * can be viewed, but not downloaded.
 */
export function findDeliveryDenial(action: Action, protection: Protection, kind: ContentKind): DeliveryDenial | null {
  const isView = action === 'view';
  if (!isView && protection.copyProtect && protection.waterMarkText === '') return 'copyProtected';
  if (requiresWatermark(protection)) return canBeWatermarked(kind) ? 'markingUnavailable' : 'cannotBeMarked';
  if (!isView && protection.digitalSignature && kind === 'pdf') return 'signingUnavailable';
  return isView && kind === 'other' ? 'cannotBeViewed' : null;
}
