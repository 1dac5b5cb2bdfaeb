import { sql } from 'kysely';
import { fold } from '#core/fold.ts';
import { formatList } from '#core/list-text.ts';
import { fieldRefusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Tx } from '#ports/store.ts';

// SQLite takes 32,766 parameters.
const insertHolds = 200; // rows
const questionHolds = 2000; // names; PostgreSQL may read all users of a profile for each question, until it has counted them

/** A share, by its tenant and number. */
export interface ShareRef {
  readonly tid: number;
  readonly id: number;
}

function* inParts<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let begin = 0; begin < all.length; begin += size) yield all.slice(begin, begin + size);
}

/** Each name once, without regard to case, in the order given. */
const distinct = (names: readonly string[]) => [...new Map([...names].reverse().map((name) => [fold(name), name])).entries()].reverse();

async function usersByName(
  tx: Tx,
  tid: number,
  profileId: number,
  keys: readonly string[],
): Promise<Map<string, { id: number; username: string }>> {
  const found = new Map<string, { id: number; username: string }>();
  for (const part of inParts(keys, questionHolds)) {
    const rows = await tx
      .selectFrom('access_user')
      .select(['id', 'username', 'username_key'])
      .where('tid', '=', tid)
      .where('profile_id', '=', profileId)
      .where('username_key', 'in', part)
      .execute();
    for (const row of rows) found.set(row.username_key, row);
  }
  return found;
}

/** An entry of a list: a user of the profile where it has users of its own, else a name that stands for itself. */
interface Entry {
  readonly name: string;
  readonly name_key: string;
  readonly user_id: number | null;
}

/**
 * The entries that names stand for, each once.
 * @param listed entries that the share lists already, by key: their users need not be looked up
 * @throws 400 at userNames for a name that no user has
 */
async function userEntries(
  tx: Tx,
  tid: number,
  profile: { id: number; type_id: number },
  names: readonly string[],
  listed: ReadonlyMap<string, Entry>,
): Promise<Entry[]> {
  const wanted = distinct(names);
  if (profile.type_id !== profileTypes.USERS) return wanted.map(([name_key, name]) => ({ name, name_key, user_id: null }));
  // An entry that stood for itself while the profile had another type names no user yet.
  const isUser = (entry: Entry | undefined) => (entry && entry.user_id !== null ? entry : undefined);
  const added = wanted.map(([key]) => key).filter((key) => !isUser(listed.get(key)));
  const users = await usersByName(tx, tid, profile.id, added);
  return wanted.map(([name_key, name]) => {
    const known = isUser(listed.get(name_key));
    if (known) return known;
    const user = users.get(name_key);
    if (!user) throw fieldRefusal('userNames', `"${name}" is no user of the login profile`);
    return { name: user.username, name_key, user_id: user.id };
  });
}

const groupEntries = (names: readonly string[]): Entry[] => distinct(names).map(([name_key, name]) => ({ name, name_key, user_id: null }));

const textOf = (entries: readonly Entry[]) => formatList(entries.map(({ name }) => name));

/** A list of a share, in the table that holds it. */
type ListTable = 'share_user' | 'share_group';

async function insertEntries(tx: Tx, table: ListTable, share: ShareRef, rows: readonly (Entry & { position: number })[]): Promise<void> {
  for (const part of inParts(rows, insertHolds)) {
    const values = part.map(({ user_id, ...row }) => ({
      tid: share.tid,
      share_id: share.id,
      ...row,
      ...(table === 'share_user' ? { user_id } : {}),
    }));
    await tx.insertInto(table).values(values).execute();
  }
}

/** Positions in rising order that leave as many entries where they are as one walk can. */
function positionsOf(entries: readonly Entry[], before: ReadonlyMap<string, { readonly position: number }>): number[] {
  let last = -1;
  return entries.map(({ name_key }) => {
    const known = before.get(name_key)?.position ?? -1;
    last = known > last ? known : last + 1;
    return last;
  });
}

/** Writes what differs from the entries before, and nothing else. */
async function writeDifference(
  tx: Tx,
  table: ListTable,
  { tid, id }: ShareRef,
  before: ReadonlyMap<string, Entry & { readonly position: number }>,
  entries: readonly Entry[],
): Promise<void> {
  const positions = positionsOf(entries, before);
  const rows = entries.map((entry, index) => ({ ...entry, position: positions[index] ?? 0 }));
  const isSame = (row: (typeof rows)[number]) => {
    const known = before.get(row.name_key);
    return known?.position === row.position && known.name === row.name && known.user_id === row.user_id;
  };
  const same = new Set(rows.filter(isSame).map(({ name_key }) => name_key));
  // What changed is deleted and inserted again, in parts: thousands of updates would hold up everybody.
  const removed = [...before.keys()].filter((key) => !same.has(key));
  for (const part of inParts(removed, questionHolds))
    await tx.deleteFrom(table).where('tid', '=', tid).where('share_id', '=', id).where('name_key', 'in', part).execute();
  const added = rows.filter(({ name_key }) => !same.has(name_key));
  await insertEntries(tx, table, { tid, id }, added);
}

/** How many names lists have, or a few more: a comma within a name counts too. */
export const namesIn = (lists: Readonly<Record<string, string>>): number =>
  Object.values(lists).reduce((sum, text) => sum + (text === '' ? 0 : text.split(',').length), 0);

/** Does a list of a USERS profile hold a name that was no user's when it was written? Sent again, it may be one's by now. */
export async function listsNobody(tx: Tx, share: ShareRef, profile: { type_id: number }): Promise<boolean> {
  if (profile.type_id !== profileTypes.USERS) return false;
  const listed = tx.selectFrom('share_user').select('name').where('tid', '=', share.tid).where('share_id', '=', share.id);
  return (await listed.where('user_id', 'is', null).limit(1).executeTakeFirst()) !== undefined;
}

/** Lists users at a share that lists none. @returns the list as a text. @throws 400 at userNames */
export async function addUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<string> {
  const entries = names.length === 0 ? [] : await userEntries(tx, share.tid, profile, names, new Map());
  await writeDifference(tx, 'share_user', share, new Map(), entries);
  return textOf(entries);
}

/** Lists groups at a share that lists none. @returns the list as a text */
export async function addGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<string> {
  const entries = groupEntries(names);
  await writeDifference(tx, 'share_group', share, new Map(), entries);
  return textOf(entries);
}

/** Lists other users in place of those listed. @param moved the users listed are those of another profile. @throws 400 at userNames */
export async function setUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
  moved: boolean,
): Promise<string> {
  const users = tx.selectFrom('share_user').where('tid', '=', share.tid).where('share_id', '=', share.id);
  if (moved) await tx.deleteFrom('share_user').where('tid', '=', share.tid).where('share_id', '=', share.id).execute();
  const rows = await users.select(['name', 'name_key', 'user_id', 'position']).execute();
  const before = new Map(rows.map((row) => [row.name_key, row]));
  const entries = await userEntries(tx, share.tid, profile, names, before);
  await writeDifference(tx, 'share_user', share, before, entries);
  return textOf(entries);
}

/** Lists other groups in place of those listed. */
export async function setGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<string> {
  const groups = tx.selectFrom('share_group').where('tid', '=', share.tid).where('share_id', '=', share.id);
  const rows = await groups.select(['name', 'name_key', 'position']).execute();
  const entries = groupEntries(names);
  await writeDifference(tx, 'share_group', share, new Map(rows.map((row) => [row.name_key, { ...row, user_id: null }])), entries);
  return textOf(entries);
}

/** Gives a share the lists of another one. */
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
