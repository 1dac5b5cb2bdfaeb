import mime from 'mime-types';
import type { ContentKind } from '#core/authorization/delivery.ts';
import { isOfficeType } from '#core/office-types.ts';
import type { Media, MediaTypes } from '#ports/media.ts';

const binaryType = 'application/octet-stream';
const pdfHeader = Buffer.from('%PDF-');
const maxPdfHeaderEnd = 1024; // bytes: PDF readers search this far for the header
/** Types whose files are treated as text, even if file-type detects the type. */
const textualTypes = [
  'application/xml',
  'image/svg+xml',
  'text/html',
  'application/xhtml+xml',
  'application/json',
  'application/rtf',
  'text/calendar',
  'text/vcard',
];
const zipType = 'application/zip';
/** Names of files that every Office Open XML document contains, and almost no other ZIP file. */
const officeFiles = ['_rels/.rels', '[Content_Types].xml'];

/** Returns whether a ZIP file is an Office document. file-type detects one only if `[Content_Types].xml` is in its head. */
const isOffice = (type: string, head: Uint8Array) =>
  isOfficeType(type) || (type === zipType && officeFiles.some((name) => Buffer.from(head).includes(name)));

const kindsByFamily: Record<string, ContentKind> = { image: 'image', audio: 'audio', video: 'video' };

const hasControlBytes = (head: Uint8Array) => head.some((byte) => byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27));
/** Bytes without a character in windows-1252 (WHATWG Encoding maps them to control characters of ISO 8859-1). */
const undefinedBytes = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }); // streaming: the last character may be incomplete
    return true;
  } catch {
    return false;
  }
}

/** Returns the encoding of a text: by its byte order mark, else UTF-8, else windows-1252. Returns null if it is not text. */
function charsetOf(head: Uint8Array): string | null {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (hasControlBytes(head)) return null;
  if (isUtf8(head)) return 'utf-8';
  return head.some((byte) => undefinedBytes.includes(byte)) ? null : 'windows-1252';
}

const textMedia = (charset: string): Media => ({ kind: 'text', mediaType: `text/plain; charset=${charset}` });
/** Returns whether an encoding is UTF-16: `charsetOf` detects it by its byte order mark. */
const hasByteOrderMark = (charset: string) => charset.startsWith('utf-16');

const isPdf = (head: Uint8Array) => Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, maxPdfHeaderEnd)).includes(pdfHeader);

/**
 * Detects media types. `byBytes` ignores the name: it looks for a PDF header, then for a UTF-16 byte order mark, then for the signatures
 * of file-type, and last for text.
 */
export const mediaTypes: MediaTypes = {
  byName: (name) => mime.lookup(name) || binaryType,
  isPdf,
  async byBytes(head) {
    if (isPdf(head)) return { kind: 'pdf', mediaType: 'application/pdf' };
    const charset = charsetOf(head);
    if (charset && hasByteOrderMark(charset)) return textMedia(charset); // before file-type: the mark looks like the start of MPEG audio
    const { fileTypeFromBuffer } = await import('file-type'); // loaded on first use
    const fileType = await fileTypeFromBuffer(head).catch(() => undefined); // a truncated file may end within its signature
    if (fileType && !textualTypes.includes(fileType.mime)) {
      const { mime: mediaType } = fileType;
      return { kind: isOffice(mediaType, head) ? 'office' : (kindsByFamily[mediaType.split('/')[0] ?? ''] ?? 'other'), mediaType };
    }
    return charset ? textMedia(charset) : { kind: 'other', mediaType: binaryType };
  },
};
