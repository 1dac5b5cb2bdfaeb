/**
 * Returns the texts of which one is the token in the name of a staging file: the name, and its beginnings before each hyphen. Suffixes
 * begin with a hyphen, and a token may contain hyphens, too.
 */
export const possibleTokens = (name: string): readonly string[] => [
  name,
  ...Array.from(name.matchAll(/-/g), ({ index }) => name.slice(0, index)),
];
