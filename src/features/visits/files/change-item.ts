import { Refusal } from '#core/messages.ts';
import type { AuthorizedVisit, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import type { ChangeMark, Storage } from '#ports/storage.ts';
import { changeMark, withNameLock } from './name-locks.ts';
import { type FileChange, type PendingChange, runPendingChange, type StoreResponseOf } from './pending-change.ts';

/** A change of a file or folder by its name: what it action, and the answer to it. */
interface ItemChange<T> {
  readonly change: FileChange;
  readonly answer: T;
  readonly act: (mark: ChangeMark) => Promise<void>;
}

/** Makes, renames or removes a file or folder. @throws what `act` throws */
export function changeItem<T>(
  ports: VisitPorts,
  visit: AuthorizedVisit,
  storage: Storage,
  { change, answer, act }: ItemChange<T>,
  keep: StoreResponseOf<T> | null,
): Promise<T> {
  const { action, parent, name, newName = '' } = change;
  const { tid, location_id: locationId } = visit.link;
  const outcome = { value: answer, ...(newName ? { after: { name: newName } } : {}) };
  async function checkPermitted(): Promise<void> {
    if (!(await visit.decideAgain())) throw new Refusal('permissionOff'); // it may have waited
  }
  async function remove(pending: PendingChange): Promise<void> {
    await checkPermitted();
    await act({ ...pending, overtaken: [] });
  }
  function take({ token, confirm }: PendingChange): Promise<void> {
    const taken = { tid, locationId, parent, name: newName || name };
    return withNameLock(ports, storage, taken, async () => {
      await checkPermitted();
      await act({ ...(await changeMark(ports, taken, token)), confirm });
    });
  }
  return runPendingChange(
    ports,
    visit,
    change,
    {
      act: async (pending) => {
        await (action === 'delete' ? remove(pending) : take(pending));
        return outcome;
      },
      async clear(token) {
        const cleared = storage.clear({ action, parent, name, newName, token });
        // Emptying a large folder takes a while, for which nobody waits.
        await (action === 'delete' ? undefined : cleared);
        cleared.catch(() => {});
      },
    },
    keep && ((tx, auditId) => keep(tx, answer, auditId)),
  );
}
