import { type ItemPath, withName } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { type Approaching, enter, type VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import { guarded, storageFor } from '#features/visits/authorization/shared-storage.ts';
import type { ChangeMark } from '#ports/storage.ts';
import { changeItem } from './change-item.ts';
import type { Keep } from './pending-change.ts';

/** Gives a file or folder another name in the same folder. @throws 403 for the share's own root, 404, 409 */
export async function renameItem(
  ports: VisitPorts,
  approaching: Approaching,
  path: ItemPath,
  newName: string,
  keep: Keep<object> | null,
): Promise<object> {
  const entered = await enter(ports, approaching, { request: 'rename' });
  if (path.length === 0) throw new Refusal('rootFixed');
  return guarded(async () => {
    const shared = await storageFor(entered, ports);
    const { parent, name } = shared.spot(path);
    if (!(await shared.storage.stat(shared.at(path)))) throw new Refusal('itemAbsent');
    if (newName === name || (await shared.storage.stat(withName(shared.at(path), newName)))) throw new Refusal('itemExists');
    const change = { action: 'rename', path, parent, name, newName, alert: entered.link.alert_rename === 1 } as const;
    const rename = {
      change,
      answer: { name: newName },
      act: (mark: ChangeMark) => shared.storage.rename(parent, name, newName, mark),
    };
    return changeItem(ports, entered, shared.storage, rename, keep);
  });
}
