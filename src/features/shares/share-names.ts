import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Tx } from '#ports/store.ts';

const statementHolds = 200; // rows an insert or names a question carries: SQLite takes 32,766 parameters

/** A share, by its tenant and number. */
export interface ShareRef {
  readonly tid: number;
  readonly id: number;
}

function* inParts<T>(all: readonly T[]): Generator<T[]> {
  for (let begin = 0; begin < all.length; begin += statementHolds) yield all.slice(begin, begin + statementHolds);
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
  for (const part of inParts(keys)) {
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

/**
 * Lists users at a share that lists none. In a USERS profile every name is one of its users'; for other kinds a name
 * stands for itself.
 * @returns the names as they are kept
 * @throws 400 at userNames for a name that no user has
 */
export async function addUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const entries = distinct(names);
  const keys = entries.map(([key]) => key);
  const known = profile.type_id === profileTypes.USERS ? await usersByName(tx, share.tid, profile.id, keys) : null;
  const stranger = known && entries.find(([key]) => !known.has(key));
  if (stranger) throw fieldRefusal('userNames', `"${stranger[1]}" is no user of the login profile`);
  const rows = entries.map(([key, name], position) => {
    const user = known?.get(key);
    return { tid: share.tid, share_id: share.id, position, name: user?.username ?? name, name_key: key, user_id: user?.id ?? null };
  });
  for (const part of inParts(rows)) await tx.insertInto('share_user').values(part).execute();
  return rows.map(({ name }) => name);
}

/** Lists groups at a share that lists none. @returns the names as they are kept */
export async function addGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<string[]> {
  const rows = distinct(names).map(([name_key, name], position) => ({ tid: share.tid, share_id: share.id, position, name, name_key }));
  for (const part of inParts(rows)) await tx.insertInto('share_group').values(part).execute();
  return rows.map(({ name }) => name);
}

/** Lists other users in place of those listed. @throws 400 at userNames */
export async function setUserNames(
  tx: Tx,
  share: ShareRef,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<void> {
  await tx.deleteFrom('share_user').where('tid', '=', share.tid).where('share_id', '=', share.id).execute();
  await addUserNames(tx, share, profile, names);
}

/** Lists other groups in place of those listed. */
export async function setGroupNames(tx: Tx, share: ShareRef, names: readonly string[]): Promise<void> {
  await tx.deleteFrom('share_group').where('tid', '=', share.tid).where('share_id', '=', share.id).execute();
  await addGroupNames(tx, share, names);
}
