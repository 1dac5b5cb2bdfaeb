import { fold } from '#core/fold.ts';
import { fieldRefusal } from '#core/messages.ts';
import { profileTypes } from '#core/records/login-profile.ts';
import type { Tx } from '#ports/store.ts';

const statementHolds = 200; // rows an insert or names a question carries: SQLite takes 32,766 parameters

function* inParts<T>(all: readonly T[]): Generator<T[]> {
  for (let begin = 0; begin < all.length; begin += statementHolds) yield all.slice(begin, begin + statementHolds);
}

/** Each name once, without regard to case, in the order given. */
const distinct = (names: readonly string[]) => [...new Map([...names].reverse().map((name) => [fold(name), name])).entries()].reverse();

async function usersByName(tx: Tx, profileId: number, keys: readonly string[]): Promise<Map<string, { id: number; username: string }>> {
  const found = new Map<string, { id: number; username: string }>();
  for (const part of inParts(keys)) {
    const rows = await tx
      .selectFrom('access_user')
      .select(['id', 'username', 'username_key'])
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
  shareId: number,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const entries = distinct(names);
  const keys = entries.map(([key]) => key);
  const known = profile.type_id === profileTypes.USERS ? await usersByName(tx, profile.id, keys) : null;
  const stranger = known && entries.find(([key]) => !known.has(key));
  if (stranger) throw fieldRefusal('userNames', `"${stranger[1]}" is no user of the login profile`);
  const rows = entries.map(([key, name], position) => {
    const user = known?.get(key);
    return { share_id: shareId, position, name: user?.username ?? name, name_key: key, user_id: user?.id ?? null };
  });
  for (const part of inParts(rows)) await tx.insertInto('share_user').values(part).execute();
  return rows.map(({ name }) => name);
}

/** Lists groups at a share that lists none. @returns the names as they are kept */
export async function addGroupNames(tx: Tx, shareId: number, names: readonly string[]): Promise<string[]> {
  const rows = distinct(names).map(([name_key, name], position) => ({ share_id: shareId, position, name, name_key }));
  for (const part of inParts(rows)) await tx.insertInto('share_group').values(part).execute();
  return rows.map(({ name }) => name);
}

/** Lists other users in place of those listed. @throws 400 at userNames */
export async function setUserNames(
  tx: Tx,
  shareId: number,
  profile: { id: number; type_id: number },
  names: readonly string[],
): Promise<void> {
  await tx.deleteFrom('share_user').where('share_id', '=', shareId).execute();
  await addUserNames(tx, shareId, profile, names);
}

/** Lists other groups in place of those listed. */
export async function setGroupNames(tx: Tx, shareId: number, names: readonly string[]): Promise<void> {
  await tx.deleteFrom('share_group').where('share_id', '=', shareId).execute();
  await addGroupNames(tx, shareId, names);
}
