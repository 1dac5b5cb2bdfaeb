const maxGroups = 1000;
/** Characters of all names together. Each session stores them. */
const maxCharacters = 1 << 18;

/** Text for the operator. */
export const tooManyGroupsText = `The user has more than ${maxGroups} groups.`;

/** Returns a text for the operator if a user has too many groups, or if their names are too long together; else null. */
export function groupsProblem(groups: readonly string[]): string | null {
  if (groups.length > maxGroups) return tooManyGroupsText;
  const characters = groups.reduce((sum, { length }) => sum + length, 0);
  return characters > maxCharacters ? `The names of the user's groups have more than ${maxCharacters} characters together.` : null;
}
