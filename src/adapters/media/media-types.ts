import mime from 'mime-types';
import type { ContentKind } from '#core/policy/delivery.ts';
import type { Media, MediaTypes } from '#ports/media.ts';

const unknown = 'application/octet-stream';
const plain: Media = { kind: 'text', mediaType: 'text/plain; charset=utf-8' };
const pdfMark = Buffer.from('%PDF-');
const pdfMarkWithin = 1024; // bytes: readers look this far for the header
const markup = [
  'application/xml',
  'image/svg+xml',
  'text/html',
  'application/xhtml+xml',
  'application/json',
  'application/rtf',
  'text/calendar',
  'text/vcard',
];
const families: Record<string, ContentKind> = { image: 'image', audio: 'sound', video: 'video' };

/** UTF-8 (its last letter may be cut) without control characters other than line breaks, tabs and form feeds. */
function isText(head: Uint8Array): boolean {
  if (head.some((byte) => byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27))) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const isPdf = (head: Uint8Array) => Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, pdfMarkWithin)).includes(pdfMark);

/** By the bytes, whatever the name says: the signatures of file-type, then text. */
export const mediaTypes: MediaTypes = {
  byName: (name) => mime.lookup(name) || unknown,
  async byBytes(head) {
    if (isPdf(head)) return { kind: 'pdf', mediaType: 'application/pdf' };
    const { fileTypeFromBuffer } = await import('file-type'); // loaded when first needed
    const found = await fileTypeFromBuffer(head).catch(() => undefined); // a cut file may end within its signature
    if (found && !markup.includes(found.mime)) return { kind: families[found.mime.split('/')[0] ?? ''] ?? 'other', mediaType: found.mime };
    return isText(head) ? plain : { kind: 'other', mediaType: unknown };
  },
};
