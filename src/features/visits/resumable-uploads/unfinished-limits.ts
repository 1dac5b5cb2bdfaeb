import { Refusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { UploadRow } from './upload-rows.ts';

/** Maximum number of unfinished uploads at one link: in total, from one network, and from one wide network. */
const maxUnfinished = { link: 1000, network: 200, wide: 400 };
/** Maximum number of unfinished uploads at one location: a visit of a share with a quota adds up the space that they claim. */
const maxAtLocation = 5000;
/**
 * Maximum number of uploads at one link that are not complete, including expired ones. It is reached only if expired uploads cannot
 * be deleted for hours, because the storage fails.
 */
const maxNotDeleted = 20_000;
const retryAfter = 60; // seconds

const busyRefusal = () =>
  new Refusal('uploadsBusy', 'Too many uploads at this link are unfinished, in total or from your network. Finish or delete some first.', {
    retryAfter,
  });

/** Where the number of uploads is limited: at the link or at the location of a new upload. */
type Scope = 'share_id' | 'location_id';

/** Selects the uploads that are not complete, including expired ones. */
const incompleteAt = (tx: Tx, scope: Scope, row: UploadRow) =>
  tx.selectFrom('resumable_upload').where('tid', '=', row.tid).where(scope, '=', row[scope]).where('stored_name', 'is', null);

const unfinishedAt = (tx: Tx, scope: Scope, row: UploadRow, now: number) =>
  incompleteAt(tx, scope, row).where(({ or, eb }) => or([eb('expires_at', '>', now), eb('holder', 'is not', null)]));

async function hasAtLeast(count: number, uploads: ReturnType<typeof incompleteAt>): Promise<boolean> {
  const last = await uploads
    .select('expires_at')
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst();
  return last !== undefined;
}

/** Returns whether very many uploads at a link are neither complete nor deleted. */
const isLinkFull = (tx: Tx, row: UploadRow) => hasAtLeast(maxNotDeleted, incompleteAt(tx, 'share_id', row));

/** Returns whether a location has too many unfinished uploads. Does not count expired uploads of which a part still arrives. */
const isLocationFull = (tx: Tx, row: UploadRow, now: number) =>
  hasAtLeast(maxAtLocation, incompleteAt(tx, 'location_id', row).where('expires_at', '>', now));

/** An upload that was deleted to make room. The caller must delete its staging file. */
export type DeletedUpload = Pick<UploadRow, 'id' | 'location_id' | 'location_path' | 'token' | 'handle'>;

/** Returns the upload of a wide network with the fewest received bytes. Ignores uploads that are being received or put in place. */
const findSmallestUpload = (tx: Tx, scope: Scope, row: UploadRow, wideNetwork: string, now: number): Promise<DeletedUpload | undefined> =>
  unfinishedAt(tx, scope, row, now)
    .select(['id', 'location_id', 'location_path', 'token', 'handle'])
    .where('wide_network', '=', wideNetwork)
    .where('holder', 'is', null)
    // Not one that is being put in place: recovery needs its row.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('unsettled')
            .select('unsettled.audit_id')
            .whereRef('unsettled.tid', '=', 'resumable_upload.tid')
            .whereRef('unsettled.token', '=', 'resumable_upload.token'),
        ),
      ),
    )
    .orderBy('received')
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst();

/**
 * Deletes the row of the smallest upload of the wide network with the most uploads. Uploads that are being received or put in place
 * stay. If a network has only such uploads, the network with the next most uploads loses one.
 * @returns null if every wide network that can lose an upload has at most as many as that of `row` would have, `row` included
 */
async function deleteSmallestUpload(tx: Tx, scope: Scope, row: UploadRow, now: number): Promise<DeletedUpload | null> {
  const networks = await unfinishedAt(tx, scope, row, now)
    .select(({ fn }) => ['wide_network', fn.countAll<number | string>().as('count'), fn.count<number | string>('holder').as('arriving')])
    .groupBy('wide_network')
    .orderBy('count', 'desc')
    .execute();
  const ownCount = Number(networks.find(({ wide_network }) => wide_network === row.wide_network)?.count ?? 0);
  for (const { wide_network: wideNetwork, count, arriving } of networks) {
    if (Number(count) <= ownCount + 1) break;
    if (Number(arriving) === Number(count)) continue;
    const smallest = await findSmallestUpload(tx, scope, row, wideNetwork, now);
    if (!smallest) continue;
    await tx.deleteFrom('resumable_upload').where('tid', '=', row.tid).where('id', '=', smallest.id).execute();
    return smallest;
  }
  return null;
}

/** Makes room at a link for a new upload. @returns the upload that was deleted, or null @throws Refusal (503) */
async function makeRoomAtLink(tx: Tx, row: UploadRow, now: number): Promise<DeletedUpload | null> {
  const counts = await unfinishedAt(tx, 'share_id', row, now)
    .select(({ fn, ref }) => [
      fn.countAll<number | string>().as('link'),
      fn.count<number | string>(ref('id')).filterWhere('network', '=', row.network).as('network'),
      fn.count<number | string>(ref('id')).filterWhere('wide_network', '=', row.wide_network).as('wide'),
    ])
    .executeTakeFirstOrThrow();
  for (const group of ['network', 'wide'] as const) if (Number(counts[group]) >= maxUnfinished[group]) throw busyRefusal();
  if (Number(counts.link) < maxUnfinished.link) return null;
  const deleted = await deleteSmallestUpload(tx, 'share_id', row, now);
  if (!deleted) throw busyRefusal();
  return deleted;
}

/** Makes room at a location for a new upload. @returns the upload that was deleted, or null @throws Refusal (503) */
async function makeRoomAtLocation(tx: Tx, row: UploadRow, now: number): Promise<DeletedUpload | null> {
  if (!(await isLocationFull(tx, row, now))) return null;
  const deleted = await deleteSmallestUpload(tx, 'location_id', row, now);
  if (!deleted) throw new Refusal('uploadsBusy', 'Too many uploads to this storage are unfinished. Try again later.', { retryAfter });
  return deleted;
}

/**
 * Checks that a link and its location may have one more unfinished upload. If one of them has too many, deletes an upload of the wide
 * network with the most uploads there, so that nobody can block the uploads of others.
 * @returns the uploads that were deleted
 * @throws Refusal (503)
 */
export async function checkUnfinished(tx: Tx, row: UploadRow, now: number): Promise<readonly DeletedUpload[]> {
  if (await isLinkFull(tx, row))
    throw new Refusal('uploadsBusy', 'Too many expired uploads at this link could not be deleted yet. Try again later.', { retryAfter });
  const deleted = [await makeRoomAtLink(tx, row, now), await makeRoomAtLocation(tx, row, now)];
  return deleted.filter((upload) => upload !== null);
}
