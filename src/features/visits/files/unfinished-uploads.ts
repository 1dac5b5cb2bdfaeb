import type { Tx } from '#ports/store.ts';

// Queries and changes of uploads in parts, for recovery, the sweep and the receiver of the last part (features/visits/resumable-uploads).

/** Returns those of the given tokens that belong to unfinished uploads in parts. The staging files of these uploads must stay. */
export async function unfinishedUploadTokens(db: Tx, tokens: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('resumable_upload')
    .select('token')
    .where('token', 'in', tokens)
    .where('stored_name', 'is', null)
    .execute();
  return rows.map(({ token }) => token);
}

/** Returns whether a token belongs to an upload in parts that is not complete. */
export async function isUnfinishedUpload(db: Tx, tid: number, token: string): Promise<boolean> {
  const query = db
    .selectFrom('resumable_upload')
    .select('id')
    .where('tid', '=', tid)
    .where('token', '=', token)
    .where('stored_name', 'is', null);
  return (await query.executeTakeFirst()) !== undefined;
}

/**
 * Records that the file of an upload in parts is in place. Does nothing if the token belongs to an upload in one request.
 * @param sha256 null: not known
 */
export async function recordCompleteUpload(tx: Tx, tid: number, token: string, storedName: string, sha256: string | null): Promise<void> {
  await tx
    .updateTable('resumable_upload')
    .set(({ ref }) => ({ stored_name: storedName, sha256, received: ref('size'), holder: null }))
    .where('tid', '=', tid)
    .where('token', '=', token)
    .execute();
}
