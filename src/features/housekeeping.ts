import { failuresCountFor } from '#core/policy/slow-down.ts';
import type { Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';
import type { AuditRetention } from './audit-retention.ts';
import { answersKeptFor } from './idempotency/kept-answers.ts';
import { longestOperatorSession } from './operators/operator-session.ts';
import { longestIdle, longestSession } from './visits/visit-session.ts';

const longestConflict = 3_600_000;

async function dropEnded(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('failure')
    .where('at', '<', now - Math.max(failuresCountFor, longestConflict))
    .execute();
  await tx
    .deleteFrom('visit_session')
    .where(({ or, eb }) => or([eb('created_at', '<', now - longestSession), eb('used_at', '<', now - longestIdle)]))
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
export async function keepHouse(ports: Pick<Ports, 'store' | 'clock'>, retention: AuditRetention): Promise<void> {
  await ports.store.write((tx) => dropEnded(tx, ports.clock.now()));
  await retention.run();
}
