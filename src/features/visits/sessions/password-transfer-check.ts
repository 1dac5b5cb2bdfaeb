import type { SignedInVisitor } from '#features/links/find-link.ts';
import type { ProfileRef, SignInKinds } from '#ports/sign-in.ts';
import { findSignInKind } from './find-sign-in-kind.ts';
import { checkRenewalGrace, endsSession } from './renew-session.ts';
import { checkSignIn, type SignInAtProfile } from './visitor-identity.ts';

/**
 * Returns the check of a running transfer whose visitor has sent a user name and a password. If a renewal is due, the
 * check queries the provider again, but does not wait for the response.
 * @returns a function that returns null if the sign-in is no longer valid, and throws Refusal (503) if the renewal has
 * been due for a minute
 */
export function passwordTransferCheck(
  { signInKinds }: { readonly signInKinds: SignInKinds },
  { profileId, signIn: verifiedSignIn }: SignInAtProfile,
) {
  let signIn = verifiedSignIn;
  let isRefused = false;
  let isRenewing = false;
  async function renewInBackground(profile: ProfileRef): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    try {
      signIn = (await findSignInKind(signInKinds, profile)?.renewal?.renew(profile, signIn, async () => {})) ?? signIn;
    } catch (cause) {
      isRefused = endsSession(cause);
    } finally {
      isRenewing = false;
    }
  }
  return async (profile: ProfileRef): Promise<SignedInVisitor | null> => {
    const signedIn = isRefused ? null : await checkSignIn(signInKinds, profile, { profileId, signIn });
    const overdueTime = findSignInKind(signInKinds, profile)?.renewal?.overdueTime(signIn) ?? Number.NEGATIVE_INFINITY;
    if (!signedIn || overdueTime < 0) return signedIn;
    void renewInBackground(profile);
    checkRenewalGrace(overdueTime);
    return signedIn;
  };
}
