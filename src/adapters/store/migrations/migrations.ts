import { first } from './0001-first.ts';
import type { Migration } from './migration.ts';

/** All steps, in order. */
export const migrations: readonly Migration[] = [first];
