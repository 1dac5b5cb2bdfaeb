import type { Migration } from './migration.ts';

/** The shares in a state are counted and found by an index alone, however many there are (share/search by `state`). */
export const shareStates: Migration = {
  name: '0003-share-states',
  statements: () => [
    'CREATE INDEX share_state ON share(tid, active, valid_from, valid_to)',
    'DROP INDEX share_ends',
    'CREATE INDEX share_ends ON share(tid, valid_to, valid_from, active) WHERE valid_to IS NOT NULL',
  ],
};
