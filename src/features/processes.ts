import type { Ports } from '#ports/ports.ts';

/** How often a process says that it lives; ms. */
export const saidEvery = 10_000;
const livesFor = 60_000; // ms since it last said so

type Self = Pick<Ports, 'store' | 'clock' | 'process'>;

/** Says that this process lives, to those that share its database. */
export async function sayAlive({ store, clock, process }: Self): Promise<void> {
  if (!store.shared) return;
  await store.write(async (tx) => {
    await tx.deleteFrom('process').where('name', '=', process).execute();
    await tx
      .deleteFrom('process')
      .where('seen_at', '<', clock.now() - livesFor)
      .execute();
    await tx.insertInto('process').values({ name: process, seen_at: clock.now() }).execute();
  });
}

/** This one has come to its end: what it left may be settled at once. */
export async function sayGone({ store, process }: Self): Promise<void> {
  if (store.shared) await store.write((tx) => tx.deleteFrom('process').where('name', '=', process).execute());
}

/** The processes whose work is under way; whatever another has begun was cut off. */
export async function livingProcesses({ store, clock, process }: Self): Promise<string[]> {
  if (!store.shared) return [process];
  const rows = await store.read
    .selectFrom('process')
    .select('name')
    .where('seen_at', '>=', clock.now() - livesFor)
    .execute();
  return [process, ...rows.map(({ name }) => name)];
}
