import { sha256 } from '#features/records/sha256.ts';
import type { Ports } from '#ports/ports.ts';
import { isTemporaryStoreError, StoreUnavailable, type Tx, type WriteTurn } from '#ports/store.ts';

const [firstPause, longestPause] = [5, 100]; // ms between two tries to hold names that another process holds
const maxWait = 10_000; // ms
const releasePause = 1000; // ms after a failed release
const holderBits = 96;

/** Does not keep the process running. */
const pause = (time: number) => new Promise<void>((resolve) => setTimeout(resolve, time).unref());

/** What holding names needs. */
export type HoldPorts = Pick<Ports, 'store' | 'process' | 'random'>;

/** Some names of this process are held by another process. */
class NamesHeld extends Error {}

/** Holds a name for this process. Names that this process holds already change their holder. @throws NamesHeld */
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

/** Releases names. Tries again until it succeeds: otherwise no other process could change the files until this one ends. */
async function release({ store }: HoldPorts, holder: string): Promise<void> {
  for (;;) {
    try {
      await store.write((tx) => tx.deleteFrom('held_name').where('holder', '=', holder).execute(), 'job');
      return;
    } catch (cause) {
      if (!isTemporaryStoreError(cause)) throw cause;
      await pause(releasePause);
    }
  }
}

/**
 * Runs work while the database records that this process holds some names. Unlike a lock, this outlives a lost connection to the database:
 * as long as the work runs and its process reports that it is running, no other process holds the names.
 * @throws StoreUnavailable if another process holds one of them for too long, or the database does not respond; the error of the work
 */
export async function holdingNames<T>(ports: HoldPorts, names: readonly string[], turn: WriteTurn, work: () => Promise<T>): Promise<T> {
  if (!ports.store.isShared) return work();
  const keys = [...new Set(names.map(sha256))].sort();
  const holder = ports.random.token(holderBits);
  const deadline = performance.now() + maxWait;
  for (let wait = firstPause; !(await tryToHold(ports, keys, holder, turn)); wait = Math.min(2 * wait, longestPause)) {
    if (performance.now() > deadline) throw new StoreUnavailable('another process has held a name for too long');
    await pause(wait);
  }
  try {
    return await work();
  } finally {
    void release(ports, holder).catch(() => {}); // the end of this process releases the names, too
  }
}
