import { Refusal } from '#core/messages.ts';
import type { Tx } from '#ports/store.ts';
import type { UploadRow } from './upload-rows.ts';

/** Maximum number of unfinished uploads at one link: in total, from one network, and from one wide network. */
const maxUnfinished = { link: 1000, network: 200, wide: 400 };
const retryAfter = 60; // seconds

const busyRefusal = () =>
  new Refusal('uploadsBusy', 'Too many uploads at this link are unfinished, in total or from your network. Finish or delete some first.', {
    retryAfter,
  });

/** The unfinished uploads at the link of an upload. */
const unfinishedAtLink = (tx: Tx, { tid, share_id: shareId }: UploadRow, now: number) =>
  tx
    .selectFrom('resumable_upload')
    .where('tid', '=', tid)
    .where('share_id', '=', shareId)
    .where('stored_name', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', '>', now), eb('holder', 'is not', null)]));

/**
 * Deletes the row of one upload of the wide network with the most: the one that has received the least. The sweep deletes its files.
 * @param ownCount unfinished uploads of the newcomer's wide network
 * @throws Refusal (503) if the newcomer's network would have as many as the largest one
 */
async function makeRoom(tx: Tx, row: UploadRow, ownCount: number, now: number): Promise<void> {
  const largest = await unfinishedAtLink(tx, row, now)
    .select(({ fn }) => ['wide_network', fn.countAll<number | string>().as('count')])
    .groupBy('wide_network')
    .orderBy('count', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!largest || Number(largest.count) <= ownCount + 1) throw busyRefusal();
  const smallest = await unfinishedAtLink(tx, row, now)
    .select('id')
    .where('wide_network', '=', largest.wide_network)
    .where('holder', 'is', null)
    // One that is being put in place is recovered with its row.
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
  if (!smallest) throw busyRefusal();
  await tx.deleteFrom('resumable_upload').where('tid', '=', row.tid).where('id', '=', smallest.id).execute();
}

/**
 * Checks that there may be one more unfinished upload. At a link that has too many, the wide network with the most loses one to a network
 * that has fewer, so that nobody can close a link for the uploads of others.
 * @throws Refusal (503)
 */
export async function checkUnfinished(tx: Tx, row: UploadRow, now: number): Promise<void> {
  const counts = await unfinishedAtLink(tx, row, now)
    .select(({ fn, ref }) => [
      fn.countAll<number | string>().as('link'),
      fn.count<number | string>(ref('id')).filterWhere('network', '=', row.network).as('network'),
      fn.count<number | string>(ref('id')).filterWhere('wide_network', '=', row.wide_network).as('wide'),
    ])
    .executeTakeFirstOrThrow();
  for (const group of ['network', 'wide'] as const) if (Number(counts[group]) >= maxUnfinished[group]) throw busyRefusal();
  if (Number(counts.link) >= maxUnfinished.link) await makeRoom(tx, row, Number(counts.wide), now);
}
