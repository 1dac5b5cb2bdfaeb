import type { Action } from './decide.ts';
import type { Protection } from './share-rules.ts';

/** What a file is, by its bytes. */
export type ContentKind = 'pdf' | 'image' | 'sound' | 'video' | 'text' | 'other';

/** Why the original must not leave. */
export type DeliveryDenial = 'copyProtected' | 'cannotBeMarked' | 'markingUnavailable' | 'signingUnavailable' | 'cannotBeViewed';

const canBeMarked = (kind: ContentKind) => kind === 'pdf' || kind === 'image';

/** Does it need the bytes to answer? A folder as a zip is refused whole before any file is looked at. */
export function mustMark(protection: Protection): boolean {
  return protection.copyProtect || protection.waterMarkText !== '';
}

/**
 * In which form may the bytes leave (decisions.md, "What the flags mean at the link")? Marks and signatures are made
 * by a later issue; until then what needs one is refused, and the original never leaves in its place.
 * @returns null: the original.
 */
export function refuseOriginal(action: Action, protection: Protection, kind: ContentKind): DeliveryDenial | null {
  const viewed = action === 'view';
  if (!viewed && protection.copyProtect && protection.waterMarkText === '') return 'copyProtected';
  if (mustMark(protection)) return canBeMarked(kind) ? 'markingUnavailable' : 'cannotBeMarked';
  if (!viewed && protection.digitalSignature && kind === 'pdf') return 'signingUnavailable';
  return viewed && kind === 'other' ? 'cannotBeViewed' : null;
}
