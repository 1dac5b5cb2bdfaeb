import { sql } from 'kysely';
import type { Outcome } from '#core/records/audit-entry.ts';
import type { Tx } from '#ports/store.ts';

/** What is added to an audit entry that was written before. */
export interface EntryAddition {
  tid: number;
  count: number;
  bytes: number | null;
  outcome: Outcome | null;
}

/** What was handed out once stays so, though a later request for the same broke off. */
const outcomeAfter = (outcome: Outcome) => sql<Outcome>`case when outcome = 'done' then outcome else ${outcome} end`;

export async function writeAdditions(tx: Tx, parts: readonly (readonly [number, EntryAddition])[]): Promise<void> {
  for (const [id, { tid, count, bytes, outcome }] of parts)
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
