import { Refusal } from '#core/messages.ts';
import type { Entered, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import type { ChangeMark, Storage } from '#ports/storage.ts';
import { inTurn, markOf } from './name-locks.ts';
import { changeFiles, type FileChange, type Keep, type PendingChange } from './pending-change.ts';

/** A change of a file or folder by its name: what it does, and the answer to it. */
interface ItemChange<T> {
  readonly change: FileChange;
  readonly answer: T;
  readonly act: (mark: ChangeMark) => Promise<void>;
}

/** Makes, renames or removes a file or folder. @throws what `act` throws */
export function changeItem<T>(
  ports: VisitPorts,
  entered: Entered,
  storage: Storage,
  { change, answer, act }: ItemChange<T>,
  keep: Keep<T> | null,
): Promise<T> {
  const { action: does, parent, name, newName = '' } = change;
  const { tid, location_id: locationId } = entered.link;
  const outcome = { value: answer, ...(newName ? { after: { name: newName } } : {}) };
  async function checkPermitted(): Promise<void> {
    if (!(await entered.decideAgain())) throw new Refusal('permissionOff'); // it may have waited
  }
  async function remove(pending: PendingChange): Promise<void> {
    await checkPermitted();
    await act({ ...pending, overtaken: [] });
  }
  function take({ token, confirm }: PendingChange): Promise<void> {
    const taken = { tid, locationId, parent, name: newName || name };
    return inTurn(ports, storage, taken, async () => {
      await checkPermitted();
      await act({ ...(await markOf(ports, taken, token)), confirm });
    });
  }
  return changeFiles(
    ports,
    entered,
    change,
    {
      act: async (pending) => {
        await (does === 'delete' ? remove(pending) : take(pending));
        return outcome;
      },
      async clear(token) {
        const cleared = storage.clear({ does, parent, name, newName, token });
        // Emptying a large folder takes a while, for which nobody waits.
        await (does === 'delete' ? undefined : cleared);
        cleared.catch(() => {});
      },
    },
    keep && ((tx, auditId) => keep(tx, answer, auditId)),
  );
}
