import type { ItemPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type Approaching, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { guarded, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeMark } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { Keep } from './pending-change.ts';

/** Deletes a file, or a folder with all that is in it, in one step. @throws 403 for the share's own root, 404 */
export async function deleteItem(ports: VisitPorts, approaching: Approaching, path: ItemPath, keep: Keep<null> | null): Promise<null> {
  const entered = await enter(ports, approaching, { request: 'delete' });
  if (path.length === 0) throw new Refusal('rootFixed');
  return guarded(async () => {
    const shared = await storageFor(entered, ports);
    const { parent, name } = shared.spot(path);
    if (!(await shared.storage.stat(shared.at(path)))) throw new Refusal('itemAbsent');
    const change = { action: 'delete', path, parent, name, alert: entered.link.alert_delete === 1 } as const;
    const remove = { change, answer: null, act: (mark: ChangeMark) => shared.storage.remove(parent, name, mark) };
    return changeItem(ports, entered, shared.storage, remove, keep);
  });
}
