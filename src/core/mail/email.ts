import { fold } from '#core/fold.ts';

const maxEmailLength = 254; // RFC 5321, 4.5.3.1.3, less the angle brackets
// One @, and nothing that a mail program or server could read as a second recipient or as another header.
const emailForm = /^[^\s\p{C}@,;:<>()[\]"\\]+@[^\s\p{C}@,;:<>()[\]"\\]+$/u;

/** Returns the e-mail address if mail can be sent to it, else null. */
export function parseEmail(text: string): string | null {
  return text.length <= maxEmailLength && emailForm.test(text) ? text : null;
}

/** Returns a key that is equal for two spellings of one address. */
export const emailKey = (email: string): string => fold(email);
