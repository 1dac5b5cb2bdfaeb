import { directionOf, type Language } from './translations/languages.ts';

const minute = 60_000; // ms

export const codeDigits = 8;
/** Time in ms for which a code is valid. */
export const codeLifetime = 10 * minute;
export const maxCodeAttempts = 5;
/**
 * After this number of wrong codes at a login profile within `failureLifetime`, each code allows only one attempt. An attacker with
 * thousands of networks then gets one guess for each code that is requested, and visitors who enter the right code at the first attempt
 * notice nothing.
 */
export const maxWrongCodes = 250;
/** Time in ms in which one mailbox gets at most `maxCodes` codes of a tenant, whichever browser requests them. */
export const codeWindow = 60 * minute;
export const maxCodes = 10;

/** Returns a code without the spaces and hyphens of its notation. Full-width and Arabic digits become ASCII digits. */
export const parseCode = (text: string): string =>
  text.replace(/[\s\p{Pd}]+/gu, '').replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) % 16));

/**
 * Returns a code in two groups of digits, as mails and pages show it. In a text that runs from right to left, a plain space would make
 * the second group stand first; a no-break space keeps the digits together as one number (UAX #9, rule W4).
 */
export const spacedCode = (code: string, language: Language): string =>
  code.replace(/^\d{4}/, directionOf(language) === 'rtl' ? '$&\u00a0' : '$& ');
