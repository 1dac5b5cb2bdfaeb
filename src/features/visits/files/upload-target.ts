import type { ItemPath } from '#core/item-path.ts';
import type { Entry } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { SharedStorage } from '#features/visits/authorization/shared-storage.ts';
import type { Confirm, Upload } from '#ports/storage.ts';
import { StoreUnavailable, type WriteTurn } from '#ports/store.ts';
import { withdrawChange } from './change-phases.ts';
import { withNameLocks } from './name-locks.ts';
import { beginChange } from './overlapping-changes.ts';
import type { ChangePorts } from './pending-change.ts';
import { recordEarlierChanges } from './record-earlier-changes.ts';

/** For so many ms after a change, some storages give a file a weak ETag: the file could change again and keep this ETag. */
const youngTime = 3000;

interface TargetRules {
  readonly dropBox: boolean;
  /** Whether the file is for a subfolder of the share. */
  readonly nested: boolean;
  /** ms since the epoch. */
  readonly now: number;
}

/** Returns whether a file has just changed, and has an ETag that does not tell this version from the next one. */
const hasUncertainEtag = ({ etag, modified }: Entry, now: number) =>
  etag.startsWith('W/') && modified !== null && now - modified < youngTime;

/**
 * Checks the folder and the name of a file before it is received.
 * @returns the ETag and the size of the file to replace, or null if the upload replaces no file
 * @throws Refusal (404, 409, 412)
 */
export async function checkUploadTarget(
  { storage }: SharedStorage<'upload'>,
  folder: ItemPath,
  path: ItemPath,
  ifMatch: string | null,
  { dropBox, nested, now }: TargetRules,
): Promise<{ readonly etag: string; readonly size: number } | null> {
  // A drop box must not show which folders exist in it.
  if (dropBox && nested) throw new Refusal('itemAbsent');
  const [parent, existing] = await Promise.all([storage.stat(folder), storage.stat(path)]);
  if (!parent?.folder) throw new Refusal('itemAbsent');
  if (ifMatch === null) {
    if (existing && !dropBox)
      throw new Refusal('itemExists', 'A file or folder with this name exists. To replace a file, send its ETag as If-Match.');
    return null;
  }
  if (existing?.folder) throw new Refusal('itemExists');
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!existing || !(tags.includes('*') || tags.includes(existing.etag))) throw new Refusal('itemStale');
  if (!tags.includes('*') && hasUncertainEtag(existing, now))
    throw new Refusal(
      'itemStale',
      'The file has just changed, and its ETag may not tell two changes apart. Read the ETag again in three seconds.',
    );
  return existing;
}

/** A received file that is to become visible. */
interface ReceivedFile {
  readonly upload: Upload;
  readonly parent: ItemPath;
  readonly name: string;
  /** ETag of the file to replace; null: none. */
  readonly etag: string | null;
  /** Whether a drop box gives the file another name if the name is taken. */
  readonly isNumbered: boolean;
  readonly token: string;
  readonly confirm: Confirm;
  /** Aborted when Postern ends the transfer, for example because it is no longer permitted. */
  readonly abortSignal: AbortSignal;
}

/**
 * Records the name under which a drop box is about to store a file, so that a later change of that name finds the upload.
 * @throws StoreUnavailable if another process has begun to recover it
 */
async function recordName(
  { store, process }: Pick<ChangePorts, 'store' | 'process'>,
  { tid, token, name }: { readonly tid: number; readonly token: string; readonly name: string },
  turn: WriteTurn,
): Promise<void> {
  const [result] = await store.write(
    (tx) =>
      tx.updateTable('unsettled').set({ name }).where('tid', '=', tid).where('token', '=', token).where('process', '=', process).execute(),
    turn,
  );
  if (Number(result?.numUpdatedRows) !== 1) throw new StoreUnavailable('another process has recovered the change');
}

/**
 * Makes a received file visible if the share still permits the upload.
 * @returns the name in the storage
 * @throws Refusal (403) if the share no longer permits the upload; the reason of `abortSignal`; as `Upload.place` and
 *   `recordEarlierChanges`
 */
export async function placeReceivedFile(
  ports: ChangePorts,
  { link, decideAgain, visitorRequest }: Pick<AuthorizedVisit<'upload'>, 'link' | 'decideAgain' | 'visitorRequest'>,
  storage: SharedStorage<'upload'>['storage'],
  { upload, parent, name, etag, isNumbered, token, confirm, abortSignal }: ReceivedFile,
): Promise<string> {
  const turn = visitorTurn(visitorRequest.address);
  // A lock makes uploads to one name run one after the other if they replace a file, or if the storage does not guarantee
  // that only one of them succeeds.
  const isAtomic = etag === null && storage.traits.create === 'atomic';
  const confirmIfShared = ports.store.isShared ? confirm : undefined; // else there is no other process that could recover the upload
  const change = { tid: link.tid, token };
  async function begin<T>(usedName: string, step: () => Promise<T>): Promise<T> {
    const used = { ...change, locationId: link.location_id, parent, names: [usedName], existing: etag === null ? null : usedName };
    using _begun = storage.traits.create === 'atomic' ? null : await beginChange(ports, storage, { ...used, action: 'upload' });
    abortSignal.throwIfAborted();
    if (!(await decideAgain())) throw new Refusal('permissionOff');
    if (!isAtomic) await recordEarlierChanges(ports, storage, used, token);
    return await step();
  }
  if (isAtomic) return begin(name, () => upload.place(confirmIfShared));
  const inLock = <T>(usedName: string, step: () => Promise<T>): Promise<T> =>
    withNameLocks(ports, storage, parent, [usedName], { token, turn }, () => begin(usedName, step));
  if (!isNumbered) return inLock(name, () => upload.place(confirmIfShared));
  return upload.place(confirmIfShared, (candidate, step) =>
    inLock(candidate, async () => {
      await recordName(ports, { ...change, name: candidate }, turn);
      const isPlaced = await step();
      if (!isPlaced) await withdrawChange(ports, change);
      return isPlaced;
    }),
  );
}
