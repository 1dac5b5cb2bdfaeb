import { sql } from 'kysely';
import { millisecondsPerDay } from '#core/instant.ts';
import type { Ports } from '#ports/ports.ts';

/** Longer than every pause before an attempt or a digest; ms. */
const longestPause = 2 * millisecondsPerDay;

/**
 * Makes mails and digests due at once if their due time is further away than `longestPause`: the clock of the
 * database was ahead when they were stored. The age of these mails counts from now.
 */
export async function correctDueTimes({ store }: Pick<Ports, 'store'>): Promise<void> {
  const now = sql<number>`${store.dialect.now}`;
  const isTooLate = sql<boolean>`due_at > ${store.dialect.now} + ${longestPause}`;
  const delivery = store.read.selectFrom('delivery').select('id').where('state', '=', 'waiting').where(isTooLate);
  if (await delivery.limit(1).executeTakeFirst())
    await store.write(
      (tx) => tx.updateTable('delivery').set({ due_at: now, created_at: now }).where('state', '=', 'waiting').where(isTooLate).execute(),
      'job',
    );
  const digest = store.read.selectFrom('alert_digest').select('share_id').where(isTooLate);
  if (await digest.limit(1).executeTakeFirst())
    await store.write((tx) => tx.updateTable('alert_digest').set({ due_at: now }).where(isTooLate).execute(), 'job');
}
