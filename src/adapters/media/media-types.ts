import mime from 'mime-types';
import type { ContentKind } from '#core/policy/delivery.ts';
import type { Media, MediaTypes } from '#ports/media.ts';

const unknown = 'application/octet-stream';
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

const hasControls = (head: Uint8Array) => head.some((byte) => byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27));
/** Bytes that windows-1252 has no letter for (WHATWG Encoding gives them the controls of ISO 8859-1). */
const unlettered = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }); // its last letter may be cut
    return true;
  } catch {
    return false;
  }
}

/** The encoding of a text: by its byte order mark, else UTF-8, else what Windows wrote before; null: it is no text. */
function charsetOf(head: Uint8Array): string | null {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (hasControls(head)) return null;
  if (isUtf8(head)) return 'utf-8';
  return head.some((byte) => unlettered.includes(byte)) ? null : 'windows-1252';
}

const textIn = (charset: string): Media => ({ kind: 'text', mediaType: `text/plain; charset=${charset}` });
const hasMark = (charset: string) => charset.startsWith('utf-16');

const isPdf = (head: Uint8Array) => Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, pdfMarkWithin)).includes(pdfMark);

/** By the bytes, whatever the name says: the signatures of file-type, then text. */
export const mediaTypes: MediaTypes = {
  byName: (name) => mime.lookup(name) || unknown,
  isPdf,
  async byBytes(head) {
    if (isPdf(head)) return { kind: 'pdf', mediaType: 'application/pdf' };
    const charset = charsetOf(head);
    if (charset && hasMark(charset)) return textIn(charset); // its mark begins as sound does
    const { fileTypeFromBuffer } = await import('file-type'); // loaded when first needed
    const found = await fileTypeFromBuffer(head).catch(() => undefined); // a cut file may end within its signature
    if (found && !markup.includes(found.mime)) return { kind: families[found.mime.split('/')[0] ?? ''] ?? 'other', mediaType: found.mime };
    return charset ? textIn(charset) : { kind: 'other', mediaType: unknown };
  },
};
