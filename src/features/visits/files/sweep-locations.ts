import { openLocation } from '#features/storage-access/open-location.ts';
import type { Ports } from '#ports/ports.ts';
import { StorageUnusable } from '#ports/storage-errors.ts';
import type { LocationFailure } from './failing-locations.ts';
import { forEachLocation } from './for-each-location.ts';
import { unfinishedUploadTokens } from './unfinished-uploads.ts';

/**
 * Deletes files that interrupted uploads and deletions have left. Keeps those of pending changes and of unfinished uploads in parts.
 * Skips locations that are unavailable.
 * @returns the locations that refuse changes
 */
export async function sweepLocations({
  store,
  storages,
  vault,
}: Pick<Ports, 'store' | 'storages' | 'vault'>): Promise<readonly LocationFailure[]> {
  const refusals: LocationFailure[] = [];
  const tokensInUse = async () => {
    const rows = await store.read.selectFrom('unsettled').select('token').execute();
    return [...rows.map(({ token }) => token), ...(await unfinishedUploadTokens(store.read))];
  };
  await storages.sweep?.(tokensInUse).catch(() => {}); // the next sweep tries again
  const locations = await store.read.selectFrom('location').selectAll().execute();
  // A large folder is deleted in the background. A location that hangs is swept when it responds again.
  await forEachLocation(locations, async (row) => {
    try {
      const storage = await openLocation(row, { storages, vault });
      await storage.sweep(tokensInUse);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      if (cause instanceof StorageUnusable) refusals.push({ tid: row.tid, name: row.name, reason: cause.message });
      // Any other error: the location is unavailable or read-only, and is skipped.
    }
  });
  return refusals;
}
