import type { ItemPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { hasQuota } from '#features/quotas/check-quota.ts';
import { type CountableStorage, countFiles } from '#features/quotas/count-files.ts';
import { TooManyFiles } from '#features/quotas/uncounted-folders.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { MeasuredSpace, SaveResponseOf } from './file-change.ts';
import type { ChangePorts } from './pending-change.ts';

/** Maximum number of files and folders that are counted before a folder is deleted, if its share or location has a quota. */
const maxCountedEntries = 10_000;

/** Returns how a deletion changes the used space of the counted folders, as negative numbers; `unknown`: count their files afterwards. */
async function freedSpace(
  storage: CountableStorage,
  path: ItemPath,
  { folder, size }: Pick<Entry, 'folder' | 'size'>,
  isLimited: boolean,
): Promise<MeasuredSpace> {
  if (!folder) return { bytes: -size, files: -1 };
  if (!isLimited) return 'unknown';
  try {
    const { bytes, files } = await countFiles(storage, path, { maxEntries: maxCountedEntries });
    return { bytes: -bytes, files: -files, mayDiffer: true }; // the content of the folder may change before it is removed
  } catch (cause) {
    if (cause instanceof TooManyFiles) return 'unknown';
    throw cause;
  }
}

/**
 * Deletes a file, or a folder with its content. A storage with real folders does it in one step.
 * @throws Refusal as `authorizeVisit`, `changeItem` and `withStorageErrors`; (403) for the root of the share, (404) if the item does not
 *   exist
 */
export async function deleteItem(
  ports: AuthorizationPorts & StoragePorts & ChangePorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  saveResponse: SaveResponseOf<null> | null,
): Promise<null> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'delete' });
  if (path.length === 0) throw new Refusal('rootFixed');
  return withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const { parent, name } = shared.directoryEntry(path);
    const item = await shared.storage.stat(shared.locationPath(path));
    if (!item) throw new Refusal('itemAbsent');
    const change = { action: 'delete', path, parent, name, alert: visit.link.alert_delete === 1 } as const;
    async function apply(context: ChangeContext) {
      // Looks again: the item may have been replaced or deleted since.
      const current = await shared.storage.stat(shared.locationPath(path));
      if (!current) throw new Refusal('itemAbsent');
      const space = await freedSpace(shared.storage, shared.locationPath(path), current, hasQuota(visit.link));
      await shared.storage.remove(parent, name, context);
      return space;
    }
    return changeItem(ports, visit, shared.storage, { change, response: null, apply }, saveResponse);
  });
}
