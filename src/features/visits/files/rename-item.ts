import { type ItemPath, withName } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { SaveResponseOf } from './file-change.ts';
import type { ChangePorts } from './pending-change.ts';

/**
 * Gives a file or folder a new name; it stays in its parent folder.
 * @throws Refusal as `authorizeVisit`, `changeItem` and `withStorageErrors`; (403) for the root of the share, (404) if the item does not
 *   exist, (409) if the new name exists
 */
export async function renameItem(
  ports: AuthorizationPorts & StoragePorts & ChangePorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  newName: string,
  saveResponse: SaveResponseOf<object> | null,
): Promise<object> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'rename' });
  if (path.length === 0) throw new Refusal('rootFixed');
  return withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const { parent, name } = shared.directoryEntry(path);
    const item = await shared.storage.stat(shared.locationPath(path));
    if (!item) throw new Refusal('itemAbsent');
    if (newName === name || (await shared.storage.stat(withName(shared.locationPath(path), newName)))) throw new Refusal('itemExists');
    const change = { action: 'rename', path, parent, name, newName, alert: visit.link.alert_rename === 1 } as const;
    const itemChange = {
      change,
      response: { name: newName },
      async apply(context: ChangeContext) {
        await shared.storage.rename(parent, name, newName, context);
        return item.folder ? ('unknown' as const) : undefined; // folders that are counted may have another path now
      },
    };
    return changeItem(ports, visit, shared.storage, itemChange, saveResponse);
  });
}
