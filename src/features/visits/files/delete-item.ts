import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { ChangePorts, SaveResponseOf } from './pending-change.ts';

/**
 * Deletes a file, or a folder with its content. A storage with real folders does it in one step.
 * @throws Refusal (403) for the root of the share, (404) if the item does not exist
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
    if (!(await shared.storage.stat(shared.locationPath(path)))) throw new Refusal('itemAbsent');
    const change = { action: 'delete', path, parent, name, alert: visit.link.alert_delete === 1 } as const;
    const itemChange = { change, response: null, apply: (context: ChangeContext) => shared.storage.remove(parent, name, context) };
    return changeItem(ports, visit, shared.storage, itemChange, saveResponse);
  });
}
