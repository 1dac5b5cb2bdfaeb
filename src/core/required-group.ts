import { fold } from './fold.ts';

/**
 * Returns a text for the operator if a user is not in the required group; else null.
 * @param requireGroup group that a user must be in; undefined: none
 */
export const requiredGroupProblem = (groups: readonly string[], requireGroup: string | undefined): string | null =>
  requireGroup === undefined || groups.some((group) => fold(group) === fold(requireGroup))
    ? null
    : `The user is not in the group ${requireGroup}.`;
