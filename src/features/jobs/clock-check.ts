import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';

const hour = 3_600_000; // ms
const minute = 60_000; // ms

/**
 * Runs `deleteOldRows`, unless other processes can use the database, too, and the clock of this machine differs from that
 * of the database server by more than an hour: new rows of other processes would seem old.
 */
export async function runIfClockIsRight(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  log: (line: string) => void,
  deleteOldRows: () => Promise<void>,
): Promise<void> {
  if (store.isShared) {
    const { rows } = await sql<{ now: number }>`select ${store.dialect.now} as now`.execute(store.read);
    const difference = Math.abs(clock.now() - Number(rows[0]?.now));
    if (difference > hour)
      return log(
        `Nothing is deleted by age: the clock of this machine differs from that of the database server by ${Math.round(difference / minute)} minutes. Correct the clock.`,
      );
  }
  await deleteOldRows();
}
