/**
 * Returns a function that returns whether a name contains one of the tokens. The time it takes does not depend on the
 * number of tokens: an installation may have thousands of unfinished uploads.
 */
export function tokenFinder(tokens: readonly string[]): (name: string) => boolean {
  const tokenSet = new Set(tokens);
  const lengths = [...new Set(tokens.map(({ length }) => length))];
  const containsOfLength = (name: string, length: number) => {
    for (let start = 0; start + length <= name.length; start += 1) if (tokenSet.has(name.slice(start, start + length))) return true;
    return false;
  };
  return (name) => lengths.some((length) => containsOfLength(name, length));
}
