import { sql } from 'kysely';
import type { Outcome } from '#core/records/audit-entry.ts';
import type { Tx } from '#ports/store.ts';

/** Counts, bytes and an outcome to add to an existing audit entry. */
export interface EntryAddition {
  tid: number;
  count: number;
  bytes: number | null;
  outcome: Outcome | null;
}

/** Keeps the outcome `done`: one complete download counts, even if a later request for the same file was interrupted. */
const outcomeAfter = (outcome: Outcome) => sql<Outcome>`case when outcome = 'done' then outcome else ${outcome} end`;

/** Adds to existing audit entries. @param additions pairs of an entry's id and its addition */
export async function writeAdditions(tx: Tx, additions: readonly (readonly [number, EntryAddition])[]): Promise<void> {
  for (const [id, { tid, count, bytes, outcome }] of additions)
    await tx
      .updateTable('audit')
      .set((row) => ({
        count: row('count', '+', count),
        ...(bytes === null ? {} : { bytes: row(row.fn.coalesce('bytes', row.lit(0)), '+', bytes) }),
        ...(outcome === null ? {} : { outcome: outcomeAfter(outcome) }),
      }))
      .where('tid', '=', tid)
      .where('id', '=', id)
      .execute();
}
