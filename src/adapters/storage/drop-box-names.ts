import { numberedName } from '#core/item-path.ts';
import type { LockName } from '#ports/storage.ts';

const numbers = [2, 3, 4, 5, 6, 7, 8, 9];

/**
 * Returns the names that a drop box tries for a file: its own name, then names with a number, and
 * last a name with the token of the upload.
 */
export const dropBoxNames = (name: string, token: string): readonly string[] => [
  name,
  ...[...numbers, token].map((suffix) => numberedName(name, suffix)),
];

/** For uploads whose caller needs no locks. */
export const withoutLock: LockName = (_name, step) => step();
