import { sql } from 'kysely';
import type { Share } from '#core/records/share.ts';
import { bytesOf, bytesOfRows, checkPageBytes, isPageTooLarge } from '#features/records/page-bytes.ts';
import { connectionForRecords } from '#features/records/record-search.ts';
import type { Links } from '#ports/links.ts';
import type { Store, Tx } from '#ports/store.ts';
import { maxNamesOnEventLoop, shareRecords } from './share-rows.ts';

const longTexts = ['notify_emails', 'description', 'startup_message', 'water_mark_text', 'digital_sign_reason', 'path'];
const assumedNameBytes = 256; // estimate for a listed name; the exact sizes are read only if the estimated page is too large

/** Selects the number of listed names and the bytes of the texts of a page, before its records are read. */
const selectPageSize = (db: Tx, tid: number, ids: readonly number[]) =>
  db
    .selectFrom('share')
    .select(({ fn }) => [fn.sum<number>('listed_names').as('names'), sql<number>`sum(${bytesOf(longTexts)})`.as('bytes')])
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .executeTakeFirstOrThrow();

const listTables = ['share_user', 'share_group'] as const;

/** Checks that the texts and lists of the shares fit in one response. @throws Refusal 400 */
async function checkSize({ search }: Store, tid: number, ids: readonly number[], { names, bytes }: { names: number; bytes: number }) {
  if (!isPageTooLarge(bytes + names * assumedNameBytes)) return;
  const listSizes = await Promise.all(listTables.map((table) => bytesOfRows(search, table, ['name'], tid, ids, 'share_id')));
  checkPageBytes(listSizes.reduce((sum, size) => sum + size, bytes));
}

/**
 * Returns the records of a page of shares, in the order of the ids. Reads them outside the event loop's thread if they are many or list
 * many names, so that other requests do not wait.
 * @throws Refusal 400 if they are too large for one response
 */
export async function sharePageRecords(store: Store, tid: number, ids: readonly number[], links: Links): Promise<Share[]> {
  if (ids.length === 0) return [];
  const reader = connectionForRecords(store, ids);
  const size = await selectPageSize(reader, tid, ids);
  await checkSize(store, tid, ids, size);
  return shareRecords(size.names > maxNamesOnEventLoop ? store.search : reader, tid, ids, links);
}
