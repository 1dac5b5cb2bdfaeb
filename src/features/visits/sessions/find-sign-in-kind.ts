import { profileTypeName } from '#core/records/login-profile.ts';
import type { SignInKind, SignInKinds } from '#ports/sign-in.ts';

/** Returns the kind of sign-in of a login profile, or null if the profile needs no sign-in. */
export function findSignInKind(kinds: SignInKinds, { type_id }: { readonly type_id: number }): SignInKind | null {
  const type = profileTypeName(type_id);
  return type === 'PUBLIC' ? null : kinds[type];
}
