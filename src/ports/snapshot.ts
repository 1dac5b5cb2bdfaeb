import type { Tx } from './store.ts';

/** By table: the highest number that it has given out, so that it gives out none of them again. */
export type LastIds = Readonly<Record<string, number>>;

/** Everything that a database holds at one moment, whatever is changed in it meanwhile. */
export interface Snapshot {
  readonly db: Tx;
  readonly lastIds: LastIds;
}
