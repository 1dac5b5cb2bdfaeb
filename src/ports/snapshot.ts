import type { Tx } from './store.ts';

/** The highest id that each table has assigned, by table. A copied database must not assign these ids again. */
export type LastIds = Readonly<Record<string, number>>;

/** The contents of a database at one moment. Later changes do not affect it. */
export interface Snapshot {
  readonly db: Tx;
  readonly lastIds: LastIds;
}
