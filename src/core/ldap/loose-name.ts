/** Letters that some directories take for others, although Unicode does not decompose them. */
const equalLetters: Readonly<Record<string, string>> = {
  ...{ Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', Ħ: 'H', Ŧ: 'T' },
};

/** Katakana as Hiragana: the two alphabets have the same order. */
const toHiragana = (character: string) => String.fromCodePoint((character.codePointAt(0) ?? 0) - 0x60);

/**
 * Returns a form that is the same for all names that a directory may take for one: it ignores case, width and repeated spaces (RFC 4518),
 * some directories ignore accents and kinds of Kana, too. Names of different users can have the same form.
 * @param name at most some hundred characters: the time to normalize grows with the square of a run of marks
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
