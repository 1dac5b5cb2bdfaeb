import { identityKey } from '#features/audit/identity-key.ts';
import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { CompletedSignIn, ProfileRef, SignInKinds } from '#ports/sign-in.ts';
import { findSignInKind } from './find-sign-in-kind.ts';

/** A completed sign-in and the login profile that it belongs to. */
export interface SignInAtProfile {
  readonly profileId: number;
  readonly signIn: CompletedSignIn;
}

/** Returns the visitor of a completed sign-in. */
export const signedInVisitor = (profile: ProfileRef, { identity, user }: CompletedSignIn): SignedInVisitor => ({
  ...identity,
  userId: user?.id ?? null,
  identityKey: identityKey({ id: profile.profile_id, typeId: profile.type_id }, identity.subject),
});

/** Returns the visitor of a sign-in as they are now, or null if it belongs to another profile or has ended. */
export async function checkSignIn(
  kinds: SignInKinds,
  profile: ProfileRef,
  { profileId, signIn }: SignInAtProfile,
): Promise<SignedInVisitor | null> {
  if (profileId !== profile.profile_id || signIn.profileEpoch !== profile.session_epoch) return null;
  const current = await findSignInKind(kinds, profile)?.reauthenticate(profile, signIn);
  return current ? signedInVisitor(profile, current) : null;
}
