import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import { StoreUnavailable, type Tx, type WriteTurn } from '#ports/store.ts';
import { succeedsInTime } from './pause.ts';

/** Between two tries to hold names that another process holds. */
const waits = { first: 5, longest: 100, maxWait: 10_000 };

/** What holding names needs. */
export type HoldPorts = Pick<Ports, 'store' | 'process'>;

/** Another process holds at least one of the names that this process needs, or this process is not recorded as running. */
class NamesHeld extends Error {}

/** The names could not be held in time, mostly because another process holds one: the change has not begun. */
export class NamesHeldTooLong extends StoreUnavailable {}

/** Holds a name for this process. If this process holds the name already, only its holder changes. @throws NamesHeld */
async function holdName(tx: Tx, nameKey: string, process: string, holder: string): Promise<void> {
  const held = await tx
    .insertInto('held_name')
    .columns(['name_key', 'process', 'holder'])
    .expression((query) =>
      query
        .selectFrom('process')
        .where('name', '=', process) // without this row, the other processes believe that this one has ended
        .select((row) => [row.val(nameKey).as('name_key'), 'name as process', row.val(holder).as('holder')]),
    )
    .onConflict((conflict) =>
      conflict
        .column('name_key')
        .doUpdateSet({ holder })
        .whereRef('held_name.process', '=', (row) => row.ref('excluded.process')),
    )
    .returning('name_key')
    .execute();
  if (held.length === 0) throw new NamesHeld();
}

/** Tries to hold all names, or none. */
async function tryToHold({ store, process }: HoldPorts, keys: readonly string[], holder: string, turn: WriteTurn): Promise<boolean> {
  try {
    await store.write(async (tx) => {
      for (const key of keys) await holdName(tx, key, process, holder);
    }, turn);
    return true;
  } catch (cause) {
    if (cause instanceof NamesHeld) return false;
    throw cause;
  }
}

/** @param keys names to release; absent: all names of the holders */
const release = ({ store, process }: HoldPorts, holders: readonly string[], keys?: readonly string[]) =>
  store.write(async (tx) => {
    const held = tx.deleteFrom('held_name').where('process', '=', process).where('holder', 'in', holders);
    await (keys ? held.where('name_key', 'in', keys) : held).execute();
  }, 'job');

/**
 * Releases the names that this process still holds for changes that have ended. Such names remain if an earlier release failed, or if the
 * response to a successful hold was lost. Call this regularly: otherwise no other process can change the files until this process ends.
 * @param running tokens of the changes that this process is making or recovering
 */
export async function releaseForgottenNames(ports: HoldPorts, running: ReadonlySet<string>): Promise<void> {
  const { store, process } = ports;
  if (!store.isShared) return;
  const rows = await store.read.selectFrom('held_name').select('holder').distinct().where('process', '=', process).execute();
  // A change joins `running` before it holds a name. So a holder that is not in `running` now has ended.
  const ended = rows.map(({ holder }) => holder).filter((holder) => !running.has(holder));
  if (ended.length > 0) await release(ports, ended);
}

/**
 * Runs work while the database records that this process holds some names. Unlike a lock, the record outlives a lost connection:
 * as long as the work runs and its process reports that it is running, no other process holds the names.
 * @param holder token of the change. Not recorded if the store is not shared: then nothing but the work runs
 * @throws NamesHeldTooLong; StoreUnavailable; the error of the work
 */
export async function holdingNames<T>(
  ports: HoldPorts,
  names: readonly string[],
  holder: string,
  turn: WriteTurn,
  work: () => Promise<T>,
): Promise<T> {
  if (!ports.store.isShared) return work();
  const keys = [...new Set(names.map(sha256))].sort();
  if (!(await succeedsInTime(() => tryToHold(ports, keys, holder, turn), waits)))
    throw new NamesHeldTooLong('another process has held a name for too long');
  try {
    return await work();
  } finally {
    void release(ports, [holder], keys).catch(() => {}); // if this fails, `releaseForgottenNames` releases the names later
  }
}
