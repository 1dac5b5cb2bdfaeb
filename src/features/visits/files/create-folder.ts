import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type Approaching, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { guarded, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeMark } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { Keep } from './pending-change.ts';

/** Makes a folder. @throws 409 where the name exists, 404 where its parent does not */
export async function createFolder(
  ports: VisitPorts,
  approaching: Approaching,
  path: ItemPath,
  keep: Keep<object> | null,
): Promise<object> {
  const entered = await enter(ports, approaching, { request: 'createFolder' });
  if (entered.link.folder === 0) throw new Refusal('itemAbsent');
  return guarded(async () => {
    const shared = await storageFor(entered, ports);
    const { parent, name } = shared.spot(path);
    // Before anything is recorded: what is refused again and again leaves no entries.
    if (await shared.storage.stat(shared.at(path))) throw new Refusal('itemExists');
    if (!(await shared.storage.stat(parent))?.folder) throw new Refusal('itemAbsent');
    const change = { action: 'createFolder', path, parent, name, alert: entered.link.alert_create_folder === 1 } as const;
    const make = { change, answer: { name }, act: (mark: ChangeMark) => shared.storage.createFolder(parent, name, mark) };
    return changeItem(ports, entered, shared.storage, make, keep);
  });
}
