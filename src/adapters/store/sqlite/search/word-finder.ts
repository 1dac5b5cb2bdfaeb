/** Returns the position of a word's first occurrence in a text from `start` on, or -1. */
export type WordFinder = (text: string, start?: number) => number;

/**
 * In characters. For words up to this length, the time of V8's indexOf depends only on the length of the text. For a longer word,
 * the tables that indexOf builds cover only the end of the word, so the length of the word matters, too.
 */
const maxNativeLength = 200;

/**
 * Returns the failure table of Knuth, Morris and Pratt: for each position, the length of the longest prefix that occurs again and ends
 * there.
 */
function failureTable(word: string): Uint16Array {
  const lengths = new Uint16Array(word.length);
  for (let position = 1, length = 0; position < word.length; position += 1) {
    while (length > 0 && word.charCodeAt(position) !== word.charCodeAt(length)) length = lengths[length - 1] ?? 0;
    if (word.charCodeAt(position) === word.charCodeAt(length)) length += 1;
    lengths[position] = length;
  }
  return lengths;
}

/**
 * Returns a finder whose time is proportional to the length of the text, for any content. With indexOf, a long word that
 * almost matches at every position took seconds.
 */
export function wordFinder(word: string): WordFinder {
  if (word.length <= maxNativeLength) return (text, start) => text.indexOf(word, start);
  const lengths = failureTable(word);
  return (text, start = 0) => {
    for (let position = start, length = 0; position < text.length; position += 1) {
      const character = text.charCodeAt(position);
      while (length > 0 && character !== word.charCodeAt(length)) length = lengths[length - 1] ?? 0;
      if (character === word.charCodeAt(length)) length += 1;
      if (length === word.length) return position + 1 - length;
    }
    return -1;
  };
}
