import { expressionBuilder, type Selectable } from 'kysely';
import { type ItemPath, parseStoredPath, rootPath, splitPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import { checkQuota } from '#features/quotas/check-quota.ts';
import { claimOf } from '#features/quotas/used-space.ts';
import { visitorTurn } from '#features/turns/visitor-turns.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { ResumableUploadTable } from '#ports/audit-tables.ts';
import type { Ports } from '#ports/ports.ts';
import type { PendingFileChange } from '#ports/storage.ts';
import type { Tx } from '#ports/store.ts';
import type { Database } from '#ports/tables.ts';

/** An upload ends when no more bytes have arrived for this time; ms. One without any byte ends earlier. */
const uploadLifetime = { empty: 15 * 60_000, begun: 24 * 3_600_000 };

/** Returns when an upload ends if no more bytes arrive; ms since the epoch. */
export const uploadEnd = (received: number, now: number): number => now + (received === 0 ? uploadLifetime.empty : uploadLifetime.begun);

export type UploadRow = Selectable<ResumableUploadTable>;
type RowPorts = Pick<Ports, 'store' | 'clock' | 'process'>;

/** Returns the key of the visitor to whom an upload belongs; empty: visitors who have not signed in. */
export const ownerKey = ({ authenticated }: Pick<AuthorizedVisit, 'authenticated'>) => authenticated?.signedIn.identityKey ?? '';

/** Returns the path of the file in the share. */
export function pathOfUpload({ path }: Pick<UploadRow, 'path'>): ItemPath {
  const parsed = parseStoredPath(path);
  if (!parsed) throw new Error('invalid row in the table of uploads'); // cannot happen: the row was checked when it was written
  return parsed;
}

/** Returns the change of an upload for `clearEvidence`, which deletes the received bytes. Null if the row's path is not that of a file. */
export function evidenceOf({
  location_path: path,
  token,
  handle,
}: Pick<UploadRow, 'location_path' | 'token' | 'handle'>): PendingFileChange | null {
  const entry = splitPath(parseStoredPath(path) ?? rootPath);
  return entry && { action: 'upload', ...entry, newName: '', token, handle };
}

/**
 * Returns what happens if the name of an upload is in use. This is fixed when the upload begins, because storages prepare for it then:
 * it does not matter whether the share is a drop box now.
 */
export const ifNameTaken = ({ drop_box }: Pick<UploadRow, 'drop_box'>) => (drop_box === 1 ? 'number' : 'refuse');

/** Returns an upload of the visitor at the link. @throws Refusal (404) if the visitor has no upload with this id there */
export async function findUpload(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  visit: Pick<AuthorizedVisit, 'link' | 'authenticated'>,
  id: string,
): Promise<UploadRow> {
  const { tid, id: shareId, location_id: locationId } = visit.link;
  const row = await store.read
    .selectFrom('resumable_upload')
    .selectAll()
    .where('tid', '=', tid)
    .where('id', '=', id)
    .where('share_id', '=', shareId)
    .where('location_id', '=', locationId)
    .where('identity_key', '=', ownerKey(visit))
    .where('expires_at', '>', clock.now())
    .executeTakeFirst();
  if (!row) throw new Refusal('uploadUnknown');
  return row;
}

/** Returns an unfinished upload of the visitor at the link. @throws Refusal as `findUpload`; (410) if it is complete */
export async function findUnfinishedUpload(...parameters: Parameters<typeof findUpload>): Promise<UploadRow> {
  const row = await findUpload(...parameters);
  if (row.stored_name !== null) throw new Refusal('uploadComplete');
  return row;
}

/**
 * Deletes the row of an unfinished upload. If files of the upload are left, the sweep deletes them.
 */
export async function deleteUploadRow({ store }: Pick<Ports, 'store'>, { tid, id }: Pick<UploadRow, 'tid' | 'id'>): Promise<void> {
  await store.write(
    (tx) => tx.deleteFrom('resumable_upload').where('tid', '=', tid).where('id', '=', id).where('stored_name', 'is', null).execute(),
    'job',
  );
}

/** Returns the condition that no other running process receives a part of an upload. @param running names of all running processes */
export function isFree(process: string, running: readonly string[]) {
  const row = expressionBuilder<Database, 'resumable_upload'>();
  return row.or([row('holder', 'is', null), row('holder', '=', process), row('holder', 'not in', running)]);
}

/**
 * Returns whether the file of an upload is being put in place, or was being put in place when the process
 * ended. In the second case, recovery finds out whether the file is in place.
 */
export async function isBeingPlaced(tx: Tx, tid: number, token: string): Promise<boolean> {
  const query = tx.selectFrom('unsettled').select('audit_id').where('tid', '=', tid).where('token', '=', token);
  return (await query.executeTakeFirst()) !== undefined;
}

/**
 * Records how many bytes of an upload are durable.
 * @param saved how many were durable before
 * @throws Refusal (404) if the upload was deleted, or claimed by another process, meanwhile; (507) if a quota is used up
 */
export async function saveProgress(
  { store, clock, process }: RowPorts,
  { link, visitorRequest }: Pick<AuthorizedVisit, 'link' | 'visitorRequest'>,
  { id, size }: Pick<UploadRow, 'id' | 'size'>,
  { received, saved }: { readonly received: number; readonly saved: number },
): Promise<void> {
  const now = clock.now();
  const [result] = await store.write(async (tx) => {
    await checkQuota(tx, link, { bytes: claimOf(size, received, true) - claimOf(size, saved, true), files: 0 }, now);
    return tx
      .updateTable('resumable_upload')
      .set({ received, expires_at: uploadEnd(received, now) })
      .where('tid', '=', link.tid)
      .where('id', '=', id)
      .where('holder', '=', process)
      .execute();
  }, visitorTurn(visitorRequest.address));
  if (Number(result?.numUpdatedRows) !== 1) throw new Refusal('uploadUnknown');
}
