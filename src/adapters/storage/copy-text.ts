/** Returns a copy of a text: a part of a longer text keeps all of that text in memory. A text that is not well-formed is not copied. */
export const copyText = (text: string): string => (text.isWellFormed() ? Buffer.from(text).toString() : text);
