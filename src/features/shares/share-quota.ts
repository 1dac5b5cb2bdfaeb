import { parseStoredPath, rootPath } from '#core/item-path.ts';
import { addCountedFolder } from '#features/quotas/counted-folders.ts';
import type { Tx } from '#ports/store.ts';

/** Starts to count the files of a share if it has a quota. A job ends the count when no share of this folder has a quota any more. */
export async function countSharedFolder(tx: Tx, { tid, id }: { readonly tid: number; readonly id: number }): Promise<void> {
  const share = await tx
    .selectFrom('share')
    .select(['location_id', 'path'])
    .where('tid', '=', tid)
    .where('id', '=', id)
    .where(({ or, eb }) => or([eb('max_bytes', 'is not', null), eb('max_files', 'is not', null)]))
    .executeTakeFirst();
  if (share) await addCountedFolder(tx, { tid, locationId: share.location_id, path: parseStoredPath(share.path) ?? rootPath });
}
