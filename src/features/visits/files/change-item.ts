import { Refusal } from '#core/messages.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { ChangeContext, Storage } from '#ports/storage.ts';
import type { FileChange, MeasuredSpace, PendingChange, SaveResponseOf } from './file-change.ts';
import { findChangeContext, withNameLocks } from './name-locks.ts';
import { beginChange, namesOf } from './overlapping-changes.ts';
import { type ChangePorts, runPendingChange } from './pending-change.ts';
import { recordEarlierChanges } from './record-earlier-changes.ts';

/** A new folder, a rename or a deletion. */
interface ItemChange<T> {
  readonly change: FileChange;
  readonly response: T;
  /** Makes the change, under the locks of its names. @returns the space that it has added; undefined: none */
  readonly apply: (context: ChangeContext) => Promise<MeasuredSpace | undefined>;
}

/**
 * Creates, renames or deletes a file or folder.
 * @throws Refusal (403) if the change is no longer permitted when its turn comes; as `runPendingChange`
 */
export function changeItem<T>(
  ports: ChangePorts,
  visit: AuthorizedVisit,
  storage: Pick<Storage, 'clearEvidence' | 'folderKey' | 'giveUp' | 'recover' | 'traits'>,
  { change, response, apply }: ItemChange<T>,
  saveResponse: SaveResponseOf<T> | null,
): Promise<T> {
  const { action, parent, name, newName = '' } = change;
  const { tid, location_id: locationId } = visit.link;
  const names = namesOf(change);
  const outcome = { value: response, ...(newName ? { after: { name: newName } } : {}) };
  /** Decides again, because the change may have waited for its turn. */
  async function checkPermitted(): Promise<void> {
    if (!(await visit.decideAgain())) throw new Refusal('permissionOff');
  }
  async function changeUnderLocks(pending: PendingChange): Promise<MeasuredSpace | undefined> {
    const { token, confirm } = pending;
    using _begun =
      storage.traits.create === 'atomic' ? null : await beginChange(ports, storage, { tid, locationId, parent, names, action, token });
    await checkPermitted();
    const existing = action === 'createFolder' ? null : name;
    await recordEarlierChanges(ports, storage, { tid, locationId, parent, names, existing }, token);
    if (action === 'delete') return await apply({ ...pending, pendingTokens: [] });
    return await apply({ ...(await findChangeContext(ports, { tid, locationId, parent, name: newName || name }, token)), confirm });
  }
  return runPendingChange(
    ports,
    visit,
    change,
    {
      apply: async (pending) => {
        const space = await withNameLocks(
          ports,
          storage,
          parent,
          names,
          { token: pending.token, turn: visitorTurn(visit.visitorRequest.address) },
          () => changeUnderLocks(pending),
        );
        return space === undefined ? outcome : { ...outcome, space };
      },
      async deleteEvidence(token) {
        const deletion = storage.clearEvidence({ action, parent, name, newName, token });
        // The response to the action `delete` does not wait for this: deleting the contents of a large folder takes a while.
        await (action === 'delete' ? undefined : deletion);
        deletion.catch(() => {});
      },
    },
    saveResponse && ((tx, auditId) => saveResponse(tx, response, auditId)),
  );
}
