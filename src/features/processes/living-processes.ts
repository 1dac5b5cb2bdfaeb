import { sql } from 'kysely';
import type { Ports } from '#ports/ports.ts';

/** How often a process says that it lives; ms. */
export const reportInterval = 10_000;
/** How long a process counts as living after it last said so; ms. */
export const livingFor = 60_000;

type Self = Pick<Ports, 'store' | 'process'>;

/** The database is not the one that this process has started on: a copy is made there, or it was made anew. */
export class DatabaseExchanged extends Error {}

/**
 * @param identity that of the database when this process started
 * @throws DatabaseExchanged: what the process remembers does not hold there
 */
export async function checkSameDatabase({ store, vault }: Pick<Ports, 'store' | 'vault'>, identity: string): Promise<void> {
  if (!store.shared) return;
  if ((await store.identity()) !== identity) throw new DatabaseExchanged();
  const row = await store.read.selectFrom('secret_key').select('fingerprint').executeTakeFirst();
  if (row?.fingerprint !== vault.fingerprint) throw new DatabaseExchanged();
}

/** Says that this process lives, to those that share its database; by the database's time, whatever the machine's is. */
export async function reportAlive({ store, process }: Self): Promise<void> {
  if (!store.shared) return;
  const { now } = store.dialect;
  await store.write(async (tx) => {
    await tx.deleteFrom('process').where('name', '=', process).execute();
    await tx.deleteFrom('process').where('seen_at', '<', sql<number>`${now} - ${livingFor}`).execute();
    await tx.insertInto('process').values({ name: process, seen_at: now }).execute();
  }, 'job');
}

/** This one has come to its end: what it left may be settled at once. */
export async function reportEnded({ store, process }: Self): Promise<void> {
  if (store.shared) await store.write((tx) => tx.deleteFrom('process').where('name', '=', process).execute(), 'job');
}

/** The processes whose work is under way; whatever another has begun was cut off. */
export async function livingProcesses({ store, process }: Self): Promise<string[]> {
  if (!store.shared) return [process];
  const rows = await store.read
    .selectFrom('process')
    .select('name')
    .where('seen_at', '>=', sql<number>`${store.dialect.now} - ${livingFor}`)
    .execute();
  return [process, ...rows.map(({ name }) => name)];
}
