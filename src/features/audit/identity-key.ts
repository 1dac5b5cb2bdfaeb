import { profileTypeName } from '#core/records/login-profile.ts';

/**
 * Returns the key of an identity in the audit log: the kind of sign-in, the login profile and the subject. Two visitors with the same
 * display name have different keys, except at a profile of type PASSWORD. A visitor keeps the key when the name changes.
 */
export const identityKey = (profile: { readonly id: number; readonly typeId: number }, subject: string): string =>
  `${profileTypeName(profile.typeId)} ${profile.id} ${subject}`;
