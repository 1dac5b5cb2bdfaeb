/** Returns a copy of a text. A part of a longer text would keep all of it in memory. A text that is not well-formed is not copied. */
export const copyText = (text: string): string => (text.isWellFormed() ? Buffer.from(text).toString() : text);
