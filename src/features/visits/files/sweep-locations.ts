import { findStorageLocation, openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import type { FindTokensInUse } from '#ports/storage.ts';
import { StorageUnusable } from '#ports/storage-errors.ts';
import type { Tx } from '#ports/store.ts';
import { BusyLocations } from './busy-locations.ts';
import type { LocationFailure } from './failing-locations.ts';
import { forEachLocation } from './for-each-location.ts';
import { unfinishedUploadTokens } from './unfinished-uploads.ts';

const maxSweepTime = 600_000; // ms; without a limit, the sweep of a service that lists ever more files would never end
const maxTokens = 1000; // of one query
/** Texts of another form are not tokens. A name in the staging area can be any text, also one that PostgreSQL refuses in a query. */
const tokenPattern = /^[\w-]{1,64}$/;

/** Returns the function that looks up which tokens belong to pending changes or unfinished uploads of any tenant. */
export const tokenLookup =
  (db: Tx): FindTokensInUse =>
  async (names) => {
    const tokens = [...new Set(names)].filter((name) => tokenPattern.test(name));
    const tokensInUse: string[] = [];
    for (let start = 0; start < tokens.length; start += maxTokens) {
      const batch = tokens.slice(start, start + maxTokens);
      const rows = await db.selectFrom('unsettled').select('token').where('token', 'in', batch).execute();
      tokensInUse.push(...rows.map(({ token }) => token), ...(await unfinishedUploadTokens(db, batch)));
    }
    return tokensInUse;
  };

/**
 * Deletes files that changes have left in the staging areas. Keeps the files of pending changes and of unfinished uploads in parts.
 * Skips locations that are unavailable. Sweeps each location for at most ten minutes; the next sweep continues there.
 * @param busyLocations the locations at which earlier sweeps may still run, which this sweep skips
 * @returns the locations where no change is possible until an operator repairs them, as far as the sweep has waited for them
 */
export async function sweepLocations(
  ports: Pick<Ports, 'store' | 'storages' | 'vault'>,
  busyLocations: BusyLocations = new BusyLocations(),
): Promise<readonly LocationFailure[]> {
  const { store, storages } = ports;
  const unusableLocations: LocationFailure[] = [];
  const findTokensInUse = tokenLookup(store.read);
  await storages.sweep?.(findTokensInUse, AbortSignal.timeout(maxSweepTime)).catch(() => {}); // the next sweep tries again
  const locations = await store.read.selectFrom('location').select(['tid', 'id', 'name']).execute();
  async function sweepLocation({ tid, id, name }: (typeof locations)[number]): Promise<void> {
    try {
      const row = await findStorageLocation(store.read, { tid, id });
      const storage = row && (await openLocation(row, ports));
      await storage?.sweep(findTokensInUse, AbortSignal.timeout(maxSweepTime));
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      if (cause instanceof StorageUnusable) unusableLocations.push({ tid, name, reason: cause.message });
      // Any other error: the location is unavailable or read-only, or the time is over, and the next sweep tries again.
    }
  }
  // The function below waits only a few seconds for a location. A longer sweep continues in the background.
  await forEachLocation(locations, (location) => busyLocations.runUnlessBusy(location.tid, location.id, () => sweepLocation(location)));
  return unusableLocations;
}
