import { sql } from 'kysely';

/**
 * The version of a share: the number of its own changes, plus the number of users listed by id who were deleted or moved to another login
 * profile. A user may be in the lists of thousands of shares: deleting the user does not rewrite the rows of these shares, which may have
 * long texts.
 */
export const shareVersion = sql<number>`share.version + coalesce((select changes from share_list_change as list_change
  where list_change.tid = share.tid and list_change.share_id = share.id), 0)`;
