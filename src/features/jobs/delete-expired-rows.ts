import { type RawBuilder, sql } from 'kysely';
import { failuresCountFor } from '#core/policy/sign-in-delay.ts';
import type { AuditRetention } from '#features/audit/audit-retention.ts';
import { responsesStoredFor } from '#features/idempotency/stored-responses.ts';
import { longestOperatorSession } from '#features/operators/operator-session.ts';
import { longestIdle, longestSession } from '#features/visits/sessions/visit-session.ts';
import type { Ports } from '#ports/ports.ts';
import type { Database } from '#ports/tables.ts';

const longestConflict = 3_600_000;
const batch = 1000; // rows at a time, so that other changes get their turn

/** What has ended by itself, by its table. */
const endedAt = (now: number): readonly (readonly [keyof Database, RawBuilder<boolean>])[] => [
  ['failure', sql`at < ${now - Math.max(failuresCountFor, longestConflict)}`],
  ['visit_session', sql`created_at < ${now - longestSession} or used_at < ${now - longestIdle}`],
  ['operator_session', sql`created_at < ${now - longestOperatorSession}`],
  ['api_token', sql`expires_at < ${now}`],
  ['idempotency', sql`audit_id is null and created_at < ${now - responsesStoredFor}`],
  ['ongoing', sql`until < ${now}`],
];

async function deleteEnded({ store }: Pick<Ports, 'store'>, table: keyof Database, ended: RawBuilder<boolean>): Promise<void> {
  const row = sql.ref(store.dialect.rowId);
  const some = sql`delete from ${sql.table(table)} where ${row} in (select ${row} from ${sql.table(table)} where ${ended} limit ${batch})`;
  for (let deleted = batch; deleted === batch; )
    deleted = await store.write(async (tx) => Number((await some.execute(tx)).numAffectedRows), 'job');
}

/** Takes away what has ended by itself: nothing here is still asked for by anybody. */
export async function deleteExpiredRows(ports: Pick<Ports, 'store' | 'clock'>, retention: AuditRetention): Promise<void> {
  for (const [table, ended] of endedAt(ports.clock.now())) await deleteEnded(ports, table, ended);
  await retention.run();
}
