/** The first place of a word in a text, from `start` on; -1: there is none. */
export type WordFinder = (text: string, start?: number) => number;

const longest = 200; // characters that V8 looks for in time with the text alone: of a longer word its tables hold the end

/** How far the search may go back to where the word begins again: for each place, the length of its longest such beginning (Knuth, Morris, Pratt). */
function fallbacks(word: string): Uint16Array {
  const lengths = new Uint16Array(word.length);
  for (let at = 1, length = 0; at < word.length; at += 1) {
    while (length > 0 && word.charCodeAt(at) !== word.charCodeAt(length)) length = lengths[length - 1] ?? 0;
    if (word.charCodeAt(at) === word.charCodeAt(length)) length += 1;
    lengths[at] = length;
  }
  return lengths;
}

/** Looks for a word in time with the length of the text, whatever both hold: a long word that nearly matches everywhere took seconds. */
export function wordFinder(word: string): WordFinder {
  if (word.length <= longest) return (text, start) => text.indexOf(word, start);
  const lengths = fallbacks(word);
  return (text, start = 0) => {
    for (let at = start, length = 0; at < text.length; at += 1) {
      const letter = text.charCodeAt(at);
      while (length > 0 && letter !== word.charCodeAt(length)) length = lengths[length - 1] ?? 0;
      if (letter === word.charCodeAt(length)) length += 1;
      if (length === word.length) return at + 1 - length;
    }
    return -1;
  };
}
