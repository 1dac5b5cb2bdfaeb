import { fieldRefusal } from '#core/messages.ts';

const pieceLength = 1 << 16;
const base64 = /^[A-Za-z0-9+/\s]*$/;

/** Returns whether a text has only base64 characters and white space. Tests pieces, since the memory of a regular expression is limited. */
function hasOnlyBase64(text: string): boolean {
  for (let start = 0; start < text.length; start += pieceLength) if (!base64.test(text.slice(start, start + pieceLength))) return false;
  return true;
}

/** Returns the bytes of a text in base64. @param what description of the bytes, such as `a PDF file` @throws Refusal (400) at `field` */
export function parseBase64(field: string, text: string, what: string): Buffer {
  const padded = text.trimEnd();
  const letters = padded.endsWith('==') ? padded.slice(0, -2) : padded.endsWith('=') ? padded.slice(0, -1) : padded;
  if (letters === '' || !hasOnlyBase64(letters)) throw fieldRefusal(field, `must be ${what} in base64`);
  return Buffer.from(text, 'base64');
}
