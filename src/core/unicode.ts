/**
 * More combining marks in a row than any language has (UAX #15, Stream-Safe Text Format). Normalizing takes time in the
 * square of such a run: eleven seconds for 80,000 marks. U+FF9E and U+FF9F are letters that become marks.
 */
const longRun = /[\p{M}\uFF9E\uFF9F]{31}/u;

/** Is the same in every form; most texts are. */
const ascii = /^[\0-\x7f]*$/;

/** Returns a text in a Unicode normalization form, or as it is where it holds more than thirty marks in a row. */
export const normalizeText = (text: string, form: 'NFC' | 'NFKC' = 'NFC'): string =>
  ascii.test(text) || longRun.test(text) ? text : text.normalize(form);
