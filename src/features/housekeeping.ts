import { failuresCountFor } from '#core/policy/slow-down.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import { answersKeptFor } from './idempotency/kept-answers.ts';
import { longestOperatorSession } from './operators/operator-session.ts';
import { longestSession } from './visits/visit-session.ts';

const day = 86_400_000; // ms
const batch = 1000; // rows at a time, so that other changes get their turn
const longestConflict = 3_600_000;

/** Audit rows older than the operator keeps them, by whole days. */
async function dropAudit({ store, clock, limits }: Ports): Promise<void> {
  const now = clock.now();
  const before = now - (now % day) - limits.auditDays * day;
  for (;;) {
    const old = await store.read
      .selectFrom('audit')
      .select(['tid', 'id'])
      .where('at', '<', before)
      .where('outcome', '!=', 'begun')
      .orderBy('at')
      .limit(batch)
      .execute();
    if (old.length === 0) return;
    for (const [tid, rows] of Map.groupBy(old, (row) => row.tid))
      await store.write((tx) =>
        tx
          .deleteFrom('audit')
          .where('tid', '=', tid)
          .where(
            'id',
            'in',
            rows.map(({ id }) => id),
          )
          .execute(),
      );
  }
}

async function dropEnded(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('failure')
    .where('at', '<', now - Math.max(failuresCountFor, longestConflict))
    .execute();
  await tx
    .deleteFrom('visit_session')
    .where('created_at', '<', now - longestSession)
    .execute();
  await tx
    .deleteFrom('operator_session')
    .where('created_at', '<', now - longestOperatorSession)
    .execute();
  await tx.deleteFrom('api_token').where('expires_at', '<', now).execute();
  await tx
    .deleteFrom('idempotency')
    .where('created_at', '<', now - answersKeptFor)
    .execute();
  await tx.deleteFrom('ongoing').where('until', '<', now).execute();
}

/** Takes away what has ended by itself: nothing here is still asked for by anybody. */
export async function keepHouse(ports: Ports): Promise<void> {
  await ports.store.write((tx) => dropEnded(tx, ports.clock.now()));
  await dropAudit(ports);
}
