import Type from 'typebox';
import { fold } from '#core/fold.ts';
import { type FieldError, Refusal } from '#core/messages.ts';
import { accessUserFields, maxUsersPerCall, NewAccessUsers, storedUserFields } from '#core/records/access-user.ts';
import { findsUsersByEmail, hasAccessUsers } from '#core/records/login-profile.ts';
import { changeOperation } from '#features/operation.ts';
import type { Tx } from '#ports/store.ts';
import { findProfileForNewUser, insertAccessUsers, type NewUser } from './insert-access-users.ts';

type UniqueField = 'username' | 'email';
const keyColumns = { username: 'username_key', email: 'email_key' } as const;

/** Returns an error for each user whose name or address is the same as in an earlier row of the request. */
function duplicateErrors(users: readonly NewUser[], field: UniqueField): FieldError[] {
  const firstRows = new Map<string, number>();
  return users.flatMap((user, row) => {
    const key = fold(user[field]);
    const first = firstRows.get(key);
    if (first === undefined) firstRows.set(key, row);
    return first === undefined || key === '' ? [] : [{ field: `users.${row}.${field}`, detail: `is the same as users.${first}.${field}` }];
  });
}

/** Returns an error for each user whose name or address belongs to an existing user of the profile. */
async function existingUserErrors(
  tx: Tx,
  tid: number,
  profileId: number,
  users: readonly NewUser[],
  field: UniqueField,
): Promise<FieldError[]> {
  const keys = users.map((user) => fold(user[field]));
  const nonEmptyKeys = keys.filter((key) => key !== '');
  if (nonEmptyKeys.length === 0) return [];
  const column = keyColumns[field];
  const rows = await tx
    .selectFrom('access_user')
    .select(`${column} as key`)
    .where('tid', '=', tid)
    .where('profile_id', '=', profileId)
    .where(column, 'in', nonEmptyKeys)
    .execute();
  const existing = new Set(rows.map(({ key }) => key));
  const detail = field === 'username' ? 'is taken in this login profile' : 'is the address of another user of this login profile';
  return keys.flatMap((key, row) => (existing.has(key) ? [{ field: `users.${row}.${field}`, detail }] : []));
}

const rowNumber = ({ field }: FieldError) => Number(field.split('.')[1]);

/**
 * Checks that all names are unique in the profile. If its users sign in with their e-mail addresses, these must be unique, too.
 * @throws Refusal 409 with an error for every row that conflicts with an earlier row or an existing user, at most `maxUsersPerCall`
 */
async function checkAllUnique(tx: Tx, tid: number, profile: { id: number; type_id: number }, users: readonly NewUser[]): Promise<void> {
  const fields: readonly UniqueField[] = findsUsersByEmail(profile.type_id) ? ['username', 'email'] : ['username'];
  const fieldErrors: FieldError[] = [];
  for (const field of fields)
    fieldErrors.push(...duplicateErrors(users, field), ...(await existingUserErrors(tx, tid, profile.id, users, field)));
  if (fieldErrors.length === 0) return;
  const rows = new Set(fieldErrors.map(rowNumber)).size;
  fieldErrors.sort((a, b) => rowNumber(a) - rowNumber(b));
  throw new Refusal('nameTaken', `${rows} of ${users.length} users are invalid, so no user was added.`, {
    fieldErrors: fieldErrors.slice(0, maxUsersPerCall),
  });
}

export const addAccessUsers = changeOperation({
  name: 'accessuser/addMany',
  method: 'POST',
  role: 'editor',
  summary: `Adds up to ${maxUsersPerCall} access users to one login profile: all or none. Field errors name the row: \`users.0.email\`.`,
  message: 'accessUsersAdded',
  body: NewAccessUsers,
  maxSchemaErrors: maxUsersPerCall,
  responseFields: Type.Object({
    ids: Type.Array(accessUserFields.id, { description: 'Ids of the new access users, in the order of `users`.' }),
  }),
  async change(body, caller, tx, { clock }) {
    const profile = await findProfileForNewUser(tx, caller.tid, body.authId);
    const users = body.users.map((user) => storedUserFields.toNewColumns(user));
    await checkAllUnique(tx, caller.tid, profile, users);
    const ids = await insertAccessUsers(tx, { users, tid: caller.tid, profileId: profile.id, owner: caller.name, now: clock.now() });
    const after = { authId: profile.id, ids, usernames: users.map(({ username }) => username) };
    return { created: { ids }, message: hasAccessUsers(profile.type_id) ? 'accessUsersAdded' : 'accessUsersAddedUnused', audit: { after } };
  },
});
