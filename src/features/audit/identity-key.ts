import { profileTypeName } from '#core/records/login-profile.ts';

/**
 * Returns the key of an identity in the audit log: the kind of sign-in, the login profile and the subject. Two visitors with one
 * display name have two keys, and a visitor whose name changes has one.
 */
export const identityKey = (profile: { readonly id: number; readonly typeId: number }, subject: string): string =>
  `${profileTypeName(profile.typeId)} ${profile.id} ${subject}`;
