import { sql } from 'kysely';
import { Refusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { UploadRow } from './upload-rows.ts';

/** Maximum number of unfinished uploads at one link: in total, from one network, and from one wide network. */
const maxUnfinished = { link: 1000, network: 200, wide: 400 };
/**
 * Maximum number of uploads at one link that are not complete, with the expired ones. It is reached only if expired uploads cannot
 * be deleted for hours, because the storage fails.
 */
const maxNotDeleted = 20_000;
const retryAfter = 60; // seconds

const busyRefusal = () =>
  new Refusal('uploadsBusy', 'Too many uploads at this link are unfinished, in total or from your network. Finish or delete some first.', {
    retryAfter,
  });

/** Returns whether very many uploads at a link are neither complete nor deleted. */
async function isFull(tx: Tx, { tid, share_id: shareId }: UploadRow): Promise<boolean> {
  const last = await tx
    .selectFrom('resumable_upload')
    .select('id')
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .where('stored_name', 'is', null)
    .limit(1)
    .offset(maxNotDeleted - 1)
    .executeTakeFirst();
  return last !== undefined;
}

const unfinishedAtLink = (tx: Tx, { tid, share_id: shareId }: UploadRow, now: number) =>
  tx
    .selectFrom('resumable_upload')
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .where('stored_name', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', '>', now), eb('holder', 'is not', null)]));

/** An upload that was deleted to make room. The caller must delete its staging file. */
export type DeletedUpload = Pick<UploadRow, 'id' | 'location_id' | 'location_path' | 'token' | 'handle'>;

/** Returns the upload of a wide network with the fewest received bytes. Ignores uploads that are being received or put in place. */
const findSmallestUpload = (tx: Tx, row: UploadRow, wideNetwork: string, now: number): Promise<DeletedUpload | undefined> =>
  unfinishedAtLink(tx, row, now)
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
 * @param ownCount unfinished uploads of the wide network of the new upload, without the new one
 * @throws Refusal (503) if no such network has more uploads than the network of the new upload would then have
 */
async function deleteSmallestUpload(tx: Tx, row: UploadRow, ownCount: number, now: number): Promise<DeletedUpload> {
  const networks = await unfinishedAtLink(tx, row, now)
    .select(({ fn }) => ['wide_network', fn.countAll<number | string>().as('count')])
    .groupBy('wide_network')
    .having(sql<boolean>`count(holder) < count(*)`)
    .orderBy('count', 'desc')
    .execute();
  for (const { wide_network: wideNetwork, count } of networks) {
    if (Number(count) <= ownCount + 1) break;
    const smallest = await findSmallestUpload(tx, row, wideNetwork, now);
    if (!smallest) continue;
    await tx.deleteFrom('resumable_upload').where('tid', '=', row.tid).where('id', '=', smallest.id).execute();
    return smallest;
  }
  throw busyRefusal();
}

/**
 * Checks that a link may have one more unfinished upload. If it has too many, deletes an upload of the wide network with the most
 * uploads, so that nobody can block the uploads of others.
 * @returns the upload that was deleted, or null
 * @throws Refusal (503)
 */
export async function checkUnfinished(tx: Tx, row: UploadRow, now: number): Promise<DeletedUpload | null> {
  if (await isFull(tx, row))
    throw new Refusal('uploadsBusy', 'Too many expired uploads at this link could not be deleted yet. Try again later.', { retryAfter });
  const counts = await unfinishedAtLink(tx, row, now)
    .select(({ fn, ref }) => [
      fn.countAll<number | string>().as('link'),
      fn.count<number | string>(ref('id')).filterWhere('network', '=', row.network).as('network'),
      fn.count<number | string>(ref('id')).filterWhere('wide_network', '=', row.wide_network).as('wide'),
    ])
    .executeTakeFirstOrThrow();
  for (const group of ['network', 'wide'] as const) if (Number(counts[group]) >= maxUnfinished[group]) throw busyRefusal();
  return Number(counts.link) < maxUnfinished.link ? null : deleteSmallestUpload(tx, row, Number(counts.wide), now);
}
