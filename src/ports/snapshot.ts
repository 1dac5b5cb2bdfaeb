import type { LastIds } from './last-ids.ts';
import type { Tx } from './store.ts';

/** The contents of a database at one moment. Later changes do not affect it. */
export interface Snapshot {
  readonly db: Tx;
  readonly lastIds: LastIds;
}
