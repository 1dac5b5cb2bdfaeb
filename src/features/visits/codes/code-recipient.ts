import { emailKey, findAllowedEmail, isSameEmail } from '#core/mail/email.ts';
import { readAllowedEmails } from '#features/links/allowed-emails.ts';
import { userIdentity } from '#features/visits/sign-in/user-identity.ts';
import type { CompletedSignIn, Identity, ProfileRef } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import type { Vault } from '#ports/vault.ts';

type ProfileKey = Pick<ProfileRef, 'tid' | 'profile_id'>;

/** Somebody who may use a code. */
export interface CodeRecipient {
  /** The address to which the mail goes: as it is stored, or as entered if the profile allows all addresses of its domain. */
  readonly email: string;
  readonly identity: Identity;
  /** null: no access user, but the profile allows the address. */
  readonly user: CompletedSignIn['user'];
}

/** Returns the identity that an access user has after a sign-in with a code. @returns null as `userIdentity` does */
export async function codeUserIdentity(db: Tx, profile: ProfileKey, user: NonNullable<CompletedSignIn['user']>): Promise<Identity | null> {
  const identity = await userIdentity(db, profile, user);
  return identity && { ...identity, names: [identity.email, ...identity.names] };
}

/** The identity of an address that is allowed without an access user. An id of a user contains no @, so no subject is used twice. */
const allowedIdentity = (email: string): Identity => ({ subject: emailKey(email), name: email, email, names: [email], groups: [] });

/**
 * Returns who may use the code for an address, or null. An inactive access user may not, even if the profile allows the address. Users
 * who share an address may not either, because a code does not tell which of them uses it.
 * @param enteredEmail the address as the visitor has entered it
 */
export async function findCodeRecipient(vault: Vault, db: Tx, profile: ProfileKey, enteredEmail: string): Promise<CodeRecipient | null> {
  const [row, other] = await db
    .selectFrom('access_user')
    .select(['id', 'email', 'session_epoch'])
    .where('tid', '=', profile.tid)
    .where('profile_id', '=', profile.profile_id)
    .where('email_key', '=', emailKey(enteredEmail))
    .limit(2)
    .execute();
  if (other) return null;
  if (row) {
    const user = { id: row.id, epoch: row.session_epoch };
    const identity = isSameEmail(enteredEmail, row.email) ? await codeUserIdentity(db, profile, user) : null;
    return identity && { email: row.email, identity, user };
  }
  const email = findAllowedEmail(enteredEmail, await readAllowedEmails(vault, db, profile));
  return email === null ? null : { email, identity: allowedIdentity(email), user: null };
}
