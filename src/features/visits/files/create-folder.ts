import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { type StoragePorts, storageFor, withStorageErrors } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeContext } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { SaveResponseOf } from './file-change.ts';
import type { ChangePorts } from './pending-change.ts';

/**
 * Creates a folder.
 * @throws Refusal as `authorizeVisit`, `changeItem` and `withStorageErrors`; (403) for the root of the share, (404) if the parent does not
 *   exist, or the share is one file, (409) if the name exists
 */
export async function createFolder(
  ports: AuthorizationPorts & StoragePorts & ChangePorts,
  visitorRequest: VisitorRequest,
  path: ItemPath,
  saveResponse: SaveResponseOf<object> | null,
): Promise<object> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'createFolder' });
  if (visit.link.folder === 0) throw new Refusal('itemAbsent');
  return withStorageErrors(async () => {
    const shared = await storageFor(visit, ports);
    const { parent, name } = shared.directoryEntry(path);
    // Checks before a pending change is recorded, so that repeated refusals add no audit entries.
    if (await shared.storage.stat(shared.locationPath(path))) throw new Refusal('itemExists');
    if (!(await shared.storage.stat(parent))?.folder) throw new Refusal('itemAbsent');
    const change = { action: 'createFolder', path, parent, name, alert: visit.link.alert_create_folder === 1 } as const;
    const itemChange = {
      change,
      response: { name },
      async apply(context: ChangeContext) {
        await shared.storage.createFolder(parent, name, context);
        return undefined; // a folder uses no space
      },
    };
    return changeItem(ports, visit, shared.storage, itemChange, saveResponse);
  });
}
