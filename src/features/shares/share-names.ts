import { sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { formatList } from '#core/list-text.ts';
import { fieldRefusal } from '#core/messages.ts';
import { listsUsersById } from '#core/records/login-profile.ts';
import type { Tx } from '#ports/store.ts';

// SQLite allows 32,766 parameters in a statement.
const insertBatch = 200; // rows
const queryBatch = 2000; // names; until PostgreSQL has statistics, each query may read all users of a profile

export interface ShareRef {
  readonly tid: number;
  readonly id: number;
}

function* inBatches<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let begin = 0; begin < all.length; begin += size) yield all.slice(begin, begin + size);
}

/** Returns each name once, ignoring case, together with its folded key, in the given order. */
const distinctNames = (names: readonly string[]) => [...Map.groupBy(names, fold)].map(([key, [first = '']]) => [key, first] as const);

/** Returns the users of a profile by the folded keys of their names. */
async function findUsers(
  tx: Tx,
  tid: number,
  profileId: number,
  keys: readonly string[],
): Promise<Map<string, { id: number; username: string }>> {
  const users = new Map<string, { id: number; username: string }>();
  for (const batch of inBatches(keys, queryBatch)) {
    const rows = await tx
      .selectFrom('access_user')
      .select(['id', 'username', 'username_key'])
      .where('tid', '=', tid)
      .where('profile_id', '=', profileId)
      .where('username_key', 'in', batch)
      .execute();
    for (const row of rows) users.set(row.username_key, row);
  }
  return users;
}

/** An entry of a list. With a USERS profile, an entry of users may refer to a user. Otherwise it is only a name: `user_id` is null. */
interface Entry {
  readonly name: string;
  readonly name_key: string;
  readonly user_id: number | null;
}

/**
 * Returns the entries of a list of names, each once.
 * @param existing entries that the share lists already, by key: their users are not looked up again
 * @throws Refusal 400 at userNames for a name that no user has
 */
async function userEntries(
  tx: Tx,
  tid: number,
  profile: { id: number; type_id: number },
  names: readonly string[],
  existing: ReadonlyMap<string, Entry>,
): Promise<Entry[]> {
  const keyedNames = distinctNames(names);
  if (!listsUsersById(profile.type_id)) return keyedNames.map(([name_key, name]) => ({ name, name_key, user_id: null }));
  // An entry from a time when the profile had another type may refer to no user yet.
  const withUser = (entry: Entry | undefined) => (entry && entry.user_id !== null ? entry : undefined);
  const newKeys = keyedNames.map(([key]) => key).filter((key) => !withUser(existing.get(key)));
  const users = await findUsers(tx, tid, profile.id, newKeys);
  return keyedNames.map(([name_key, name]) => {
    const entry = withUser(existing.get(name_key));
    if (entry) return entry;
    const user = users.get(name_key);
    if (!user) throw fieldRefusal('userNames', `"${name}" is not a user of the login profile`);
    return { name: user.username, name_key, user_id: user.id };
  });
}

const groupEntries = (names: readonly string[]): Entry[] =>
  distinctNames(names).map(([name_key, name]) => ({ name, name_key, user_id: null }));

const listText = (entries: readonly Entry[]) => formatList(entries.map(({ name }) => name));

type ListTable = 'share_user' | 'share_group';

async function insertEntries(tx: Tx, table: ListTable, share: ShareRef, rows: readonly (Entry & { position: number })[]): Promise<void> {
  for (const batch of inBatches(rows, insertBatch)) {
    const values = batch.map(({ user_id, ...row }) => ({
      tid: share.tid,
      share_id: share.id,
      ...row,
      ...(table === 'share_user' ? { user_id } : {}),
    }));
    await tx.insertInto(table).values(values).execute();
  }
}

/** Returns ascending positions for the entries. An entry keeps its position wherever the order allows it. */
function assignPositions(entries: readonly Entry[], before: ReadonlyMap<string, { readonly position: number }>): number[] {
  let last = -1;
  return entries.map(({ name_key }) => {
    const previous = before.get(name_key)?.position ?? -1;
    last = previous > last ? previous : last + 1;
    return last;
  });
}

/** Deletes and inserts only the entries in which `before` and `entries` differ. */
async function writeDifference(
  tx: Tx,
  table: ListTable,
  { tid, id }: ShareRef,
  before: ReadonlyMap<string, Entry & { readonly position: number }>,
  entries: readonly Entry[],
): Promise<void> {
  const positions = assignPositions(entries, before);
  const rows = entries.map((entry, index) => ({ ...entry, position: positions[index] ?? 0 }));
  const isUnchanged = (row: (typeof rows)[number]) => {
    const previous = before.get(row.name_key);
    return previous?.position === row.position && previous.name === row.name && previous.user_id === row.user_id;
  };
  const unchangedKeys = new Set(rows.filter(isUnchanged).map(({ name_key }) => name_key));
  // Changed entries are deleted and inserted in batches: thousands of single updates would delay all other changes.
  const removedKeys = [...before.keys()].filter((key) => !unchangedKeys.has(key));
  for (const batch of inBatches(removedKeys, queryBatch))
    await tx.deleteFrom(table).where('tid', '=', tid).where('share_id', '=', id).where('name_key', 'in', batch).execute();
  const newRows = rows.filter(({ name_key }) => !unchangedKeys.has(name_key));
  await insertEntries(tx, table, { tid, id }, newRows);
}

/** Returns an upper bound of the number of names in lists: a comma within a name counts too. */
export const countListedNames = (lists: Readonly<Record<string, string>>): number =>
  Object.values(lists).reduce((sum, text) => sum + (text === '' ? 0 : text.split(',').length), 0);

/**
 * Returns whether a share of a USERS profile lists a name that refers to no user. Such a list must be written again even if
 * its text does not change, since a user with the name may exist by now.
 */
export async function hasUnlinkedNames(tx: Tx, share: ShareRef, profile: { type_id: number }): Promise<boolean> {
  if (!listsUsersById(profile.type_id)) return false;
  const entries = tx.selectFrom('share_user').select('name').where('tid', '=', share.tid).where('share_id', '=', share.id);
  return (await entries.where('user_id', 'is', null).limit(1).executeTakeFirst()) !== undefined;
}

/** Adds user names to a share that lists none. @returns the list as a text; @throws Refusal 400 at userNames */
export async function addUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<string> {
  const entries = names.length === 0 ? [] : await userEntries(tx, share.tid, profile, names, new Map());
  await writeDifference(tx, 'share_user', share, new Map(), entries);
  return listText(entries);
}

/** Adds group names to a share that lists none. @returns the list as a text */
export async function addGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<string> {
  const entries = groupEntries(names);
  await writeDifference(tx, 'share_group', share, new Map(), entries);
  return listText(entries);
}

/**
 * Replaces the user names of a share.
 * @param hasNewProfile true: the share has just got another profile. Then all entries are deleted first, because they may refer to users
 *   of the former profile
 * @returns the list as a text
 * @throws Refusal 400 at userNames
 */
export async function setUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
  hasNewProfile: boolean,
): Promise<string> {
  const users = tx.selectFrom('share_user').where('tid', '=', share.tid).where('share_id', '=', share.id);
  if (hasNewProfile) await tx.deleteFrom('share_user').where('tid', '=', share.tid).where('share_id', '=', share.id).execute();
  const rows = await users.select(['name', 'name_key', 'user_id', 'position']).execute();
  const before = new Map(rows.map((row) => [row.name_key, row]));
  const entries = await userEntries(tx, share.tid, profile, names, before);
  await writeDifference(tx, 'share_user', share, before, entries);
  return listText(entries);
}

/** Replaces the group names of a share. @returns the list as a text */
export async function setGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<string> {
  const groups = tx.selectFrom('share_group').where('tid', '=', share.tid).where('share_id', '=', share.id);
  const rows = await groups.select(['name', 'name_key', 'position']).execute();
  const entries = groupEntries(names);
  await writeDifference(tx, 'share_group', share, new Map(rows.map((row) => [row.name_key, { ...row, user_id: null }])), entries);
  return listText(entries);
}

/** Copies the lists of a share to another one that has none. */
export async function copyNames(tx: Tx, tid: number, from: number, to: number): Promise<void> {
  const share_id = sql<number>`${to}`.as('share_id');
  await tx
    .insertInto('share_user')
    .columns(['tid', 'share_id', 'position', 'name', 'name_key', 'user_id'])
    .expression(
      tx
        .selectFrom('share_user')
        .select(['tid', share_id, 'position', 'name', 'name_key', 'user_id'])
        .where('tid', '=', tid)
        .where('share_id', '=', from),
    )
    .execute();
  await tx
    .insertInto('share_group')
    .columns(['tid', 'share_id', 'position', 'name', 'name_key'])
    .expression(
      tx
        .selectFrom('share_group')
        .select(['tid', share_id, 'position', 'name', 'name_key'])
        .where('tid', '=', tid)
        .where('share_id', '=', from),
    )
    .execute();
}
