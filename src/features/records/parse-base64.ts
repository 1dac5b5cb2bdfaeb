import { fieldRefusal } from '#core/messages.ts';

/** Returns the bytes of a text in base64. @param what the bytes are, such as `a PDF file` @throws Refusal (400) at `field` */
export function parseBase64(field: string, text: string, what: string): Buffer {
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text)) throw fieldRefusal(field, `must be ${what} in base64`);
  return Buffer.from(text, 'base64');
}
