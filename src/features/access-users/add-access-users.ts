import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { type FieldError, Refusal } from '#core/messages.ts';
import { accessUserFields, mostAdded, NewAccessUsers } from '#core/records/access-user.ts';
import { keepsUsers, profileTypes } from '#core/records/login-profile.ts';
import { change } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { insertAccessUsers, type NewUser, newUser, profileForNew } from './insert-access-users.ts';

type UniqueField = 'username' | 'email';
const columnOf = { username: 'username_key', email: 'email_key' } as const;

/** Returns the users whose name or address another row of the same call has already. */
function repeatedWithin(users: readonly NewUser[], field: UniqueField): FieldError[] {
  const firstRows = new Map<string, number>();
  return users.flatMap((user, row) => {
    const key = fold(user[field]);
    const first = firstRows.get(key);
    if (first === undefined) firstRows.set(key, row);
    return first === undefined || key === '' ? [] : [{ field: `users.${row}.${field}`, detail: `is the same as users.${first}.${field}` }];
  });
}

/** Returns the users whose name or address a stored user of the profile has. */
async function takenBefore(tx: Tx, tid: number, profileId: number, users: readonly NewUser[], field: UniqueField): Promise<FieldError[]> {
  const keys = users.map((user) => fold(user[field]));
  const wanted = keys.filter((key) => key !== '');
  if (wanted.length === 0) return [];
  const column = columnOf[field];
  const rows = await tx
    .selectFrom('access_user')
    .select(`${column} as key`)
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where(column, 'in', wanted)
    .execute();
  const taken = new Set(rows.map(({ key }) => key));
  const detail = field === 'username' ? 'is taken in this login profile' : 'is the address of another user of this login profile';
  return keys.flatMap((key, row) => (taken.has(key) ? [{ field: `users.${row}.${field}`, detail }] : []));
}

const rowOf = ({ field }: FieldError) => Number(field.split('.')[1]);

/** Names are unique in a profile; where codes are sent by e-mail, so are the addresses. @throws 409 with every row at fault */
async function checkAllFree(tx: Tx, tid: number, profile: { id: number; type_id: number }, users: readonly NewUser[]): Promise<void> {
  const fields: readonly UniqueField[] = profile.type_id === profileTypes.EMAIL_CODE ? ['username', 'email'] : ['username'];
  const fieldErrors: FieldError[] = [];
  for (const field of fields) fieldErrors.push(...repeatedWithin(users, field), ...(await takenBefore(tx, tid, profile.id, users, field)));
  if (fieldErrors.length === 0) return;
  const rows = new Set(fieldErrors.map(rowOf)).size;
  fieldErrors.sort((a, b) => rowOf(a) - rowOf(b));
  throw new Refusal('nameTaken', `${rows} of ${users.length} users cannot be added; none was added.`, { fieldErrors });
}

export const addAccessUsers = change({
  name: 'accessuser/addMany',
  method: 'POST',
  role: 'editor',
  summary: `Adds up to ${mostAdded} access users to one login profile: all of them, or none. Errors name the row: \`users.0.email\`.`,
  message: 'accessUsersAdded',
  body: NewAccessUsers,
  mostFieldErrors: mostAdded,
  responseFields: Type.Object({
    ids: Type.Array(accessUserFields.id, { description: 'Ids of the new access users, in the order of `users`.' }),
  }),
  async change(body, caller, tx, { clock }) {
    const profile = await profileForNew(tx, caller.tid, body.authId);
    const users = body.users.map(newUser);
    await checkAllFree(tx, caller.tid, profile, users);
    const ids = await insertAccessUsers(tx, { users, tid: caller.tid, profileId: profile.id, owner: caller.name, now: clock.now() });
    const after = { authId: profile.id, ids, usernames: users.map(({ username }) => username) };
    return { created: { ids }, message: keepsUsers(profile.type_id) ? 'accessUsersAdded' : 'accessUsersAddedUnused', audit: { after } };
  },
});
