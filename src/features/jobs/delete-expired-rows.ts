import { type RawBuilder, sql } from 'kysely';
import { failureLifetime } from '#core/authorization/sign-in-delay.ts';
import { millisecondsPerDay } from '#core/instant.ts';
import { maxDeliveryAge } from '#core/mail/delivery-age.ts';
import { codeWindow } from '#core/sign-in-codes.ts';
import { responseLifetime } from '#features/idempotency/stored-responses.ts';
import { maxOperatorSessionTime } from '#features/operators/operator-session.ts';
import { maxIdleTime, maxSessionDuration } from '#features/visits/sessions/visit-session.ts';
import type { Ports } from '#ports/ports.ts';
import type { Database } from '#ports/tables.ts';

const conflictWindow = 3_600_000; // ms
const mailRetention = 30 * millisecondsPerDay;
const batchSize = 1000; // rows in one transaction, so that other changes get their turn

/** Time in ms for which Postern tries to delete the received bytes of an expired upload. */
const uploadCleanup = 7 * millisecondsPerDay;

/** Time in ms for which a network of a directory's user is remembered. */
const networkMemory = 180 * 24 * 3_600_000;

/** Returns, for each table, the condition of its expired rows. */
const expiredConditions = (now: number): readonly (readonly [keyof Database, RawBuilder<boolean>])[] => [
  ['failure', sql`at < ${now - Math.max(failureLifetime, conflictWindow)}`],
  ['visit_session', sql`created_at < ${now - maxSessionDuration} or used_at < ${now - maxIdleTime}`],
  ['known_network', sql`seen_at < ${now - networkMemory}`],
  ['used_statement', sql`until < ${now}`],
  ['operator_session', sql`created_at < ${now - maxOperatorSessionTime}`],
  ['api_token', sql`expires_at < ${now}`],
  ['idempotency', sql`audit_id is null and created_at < ${now - responseLifetime}`],
  ['ongoing', sql`until < ${now}`],
  ['alert', sql`created_at < ${now - maxDeliveryAge}`],
  ['sign_in_code', sql`created_at < ${now - codeWindow}`],
  // end-expired-uploads.ts deletes the bytes and the row of an expired unfinished upload. A row remains only if that was not possible.
  ['resumable_upload', sql`expires_at < ${now} and stored_name is not null or expires_at < ${now - uploadCleanup}`],
  ['delivery', sql`ended_at < ${now - mailRetention}`],
  [
    'mail_content',
    sql`created_at < ${now - mailRetention} and not exists (select 1 from delivery where delivery.content_id = mail_content.id)`,
  ],
];

async function deleteExpired({ store }: Pick<Ports, 'store'>, table: keyof Database, condition: RawBuilder<boolean>): Promise<void> {
  const row = sql.ref(store.dialect.rowId);
  const rows = (limit: number) => sql`select ${row} from ${sql.table(table)} where ${condition} limit ${limit}`;
  const countBatch = sql<{ count: number }>`select count(*) as count from (${rows(batchSize)}) as expired`;
  for (let count = batchSize; count === batchSize; ) {
    // Some tables have no index for the condition, so a connection for long queries counts the next expired rows first. The deletion has
    // this count as its limit, and stops at the last of them. Without it, the deletion would read the entire table while changes wait.
    const result = await countBatch.execute(store.reports);
    count = Number(result.rows[0]?.count);
    if (count > 0) await store.write((tx) => sql`delete from ${sql.table(table)} where ${row} in (${rows(count)})`.execute(tx), 'job');
  }
}

/** Deletes the rows that `expiredConditions` names. Old audit entries are deleted by features/audit/audit-retention.ts. */
export async function deleteExpiredRows(ports: Pick<Ports, 'store' | 'clock'>): Promise<void> {
  for (const [table, condition] of expiredConditions(ports.clock.now())) await deleteExpired(ports, table, condition);
}
