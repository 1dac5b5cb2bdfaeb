import { first } from './0001-first.ts';
import { consoleAccounts } from './0002-console.ts';
import { shareStates } from './0003-share-states.ts';
import type { Migration } from './migration.ts';

/** All steps, in order. */
export const migrations: readonly Migration[] = [first, consoleAccounts, shareStates];
