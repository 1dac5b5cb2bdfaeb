const maxToken = 64; // characters

/**
 * Returns the possible tokens in the name of a staging file: the name without the prefix `.postern-`, and the part of it before each
 * hyphen. Suffixes begin with a hyphen, and a token may contain hyphens, too. Leaves out texts that are too long for a token.
 */
export function possibleTokens(name: string): readonly string[] {
  const rest = name.replace(/^\.postern-/, '').slice(0, maxToken + 1);
  const beginnings = Array.from(rest.matchAll(/-/g), ({ index }) => rest.slice(0, index));
  return rest.length > maxToken ? beginnings : [rest, ...beginnings];
}
