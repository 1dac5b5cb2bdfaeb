import { sql } from 'kysely';
import type { Share } from '#core/records/share.ts';
import { bytesOf, bytesOfRows, checkPageBytes, isPageTooLarge } from '#features/records/page-bytes.ts';
import { recordsFrom } from '#features/records/record-search.ts';
import type { Links } from '#ports/links.ts';
import type { Store, Tx } from '#ports/store.ts';
import { mostReadAtOnce, shareRecords } from './share-rows.ts';

const longTexts = ['notify_emails', 'description', 'startup_message', 'water_mark_text', 'digital_sign_reason', 'path'];
const longestName = 256; // bytes that a listed name is taken for, until the lists themselves are added up

/** How large the records of a page are, before they are read. */
const sizeOf = (db: Tx, tid: number, ids: readonly number[]) =>
  db
    .selectFrom('share')
    .select(({ fn }) => [fn.sum<number>('listed_names').as('names'), sql<number>`sum(${bytesOf(longTexts)})`.as('bytes')])
    .where('tid', '=', tid)
    .where('id', 'in', [...ids])
    .executeTakeFirstOrThrow();

const lists = ['share_user', 'share_group'] as const;

/** @throws 400 where the texts and lists of the shares are too much for one answer */
async function checkSize({ search }: Store, tid: number, ids: readonly number[], { names, bytes }: { names: number; bytes: number }) {
  if (!isPageTooLarge(bytes + names * longestName)) return;
  const listed = await Promise.all(lists.map((list) => bytesOfRows(search, list, ['name'], tid, ids, 'share_id')));
  checkPageBytes(listed.reduce((sum, list) => sum + list, bytes));
}

/**
 * The records of a page of shares, in the order of the ids. They are read off the event loop where they are many, or
 * list so many names that others would wait.
 * @throws 400 where they are too much for one answer
 */
export async function sharesOfPage(store: Store, tid: number, ids: readonly number[], links: Links): Promise<Share[]> {
  if (ids.length === 0) return [];
  const reader = recordsFrom(store, ids);
  const size = await sizeOf(reader, tid, ids);
  await checkSize(store, tid, ids, size);
  return shareRecords(size.names > mostReadAtOnce ? store.search : reader, tid, ids, links);
}
