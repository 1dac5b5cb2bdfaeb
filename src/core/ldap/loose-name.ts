/** Letters that some directories treat as equal to other letters, although Unicode does not decompose them. */
const equalLetters: Readonly<Record<string, string>> = {
  ...{ Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', Ħ: 'H', Ŧ: 'T' },
};

/** Converts Katakana to Hiragana: in Unicode, each letter of Katakana comes 0x60 after the same letter of Hiragana. */
const toHiragana = (character: string) => String.fromCodePoint((character.codePointAt(0) ?? 0) - 0x60);

/**
 * Returns a form that is the same for all names that a directory may treat as equal. Directories ignore case, width and repeated spaces
 * (RFC 4518). Some also ignore accents, apostrophes, hyphens and the difference between Katakana and Hiragana. Names of different users
 * can have the same form.
 * @param name at most a few hundred characters: the time to normalize grows with the square of the length of a run of combining marks
 */
export function looseName(name: string): string {
  return name
    .normalize('NFKD')
    .toUpperCase()
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Z}'’-]/gu, '')
    .replace(/[ÆŒØŁĐÐÞĦŦ]/g, (letter) => equalLetters[letter] ?? letter)
    .replace(/[\u30a1-\u30f6]/g, toHiragana);
}
