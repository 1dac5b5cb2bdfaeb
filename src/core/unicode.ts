/**
 * More combining marks in a row than any language uses (UAX #15, Stream-Safe Text Format). The time to normalize such a run
 * grows with the square of its length: 80,000 marks take eleven seconds. NFKC turns the letters U+FF9E and U+FF9F into marks.
 */
const longRun = /[\p{M}\uFF9E\uFF9F]{31}/u;

/** ASCII text is the same in every normalization form. Most texts are ASCII. */
const ascii = /^[\0-\x7f]*$/;

/** Returns a text in a Unicode normalization form, or unchanged if it has more than thirty combining marks in a row. */
export const normalizeText = (text: string, form: 'NFC' | 'NFKC' = 'NFC'): string =>
  ascii.test(text) || longRun.test(text) ? text : text.normalize(form);
