import { enqueueCodeMail } from '#features/visits/codes/enqueue-code-mail.ts';
import { findCode, redeemCode } from '#features/visits/codes/verify-code.ts';
import { userIdentity } from '#features/visits/sign-in/user-identity.ts';
import type { Ports } from '#ports/ports.ts';
import type { PasswordReset } from '#ports/sign-in.ts';
import { replaceUserPassword } from './replace-user-password.ts';

/** Lets an access user of a USERS profile set a new password with a code, if no other user of the profile has the same e-mail address. */
export const passwordReset = (ports: Pick<Ports, 'store' | 'clock' | 'random' | 'vault' | 'mail'>): PasswordReset => ({
  request: (profile, request) => enqueueCodeMail(ports, profile, request, 'newPassword'),
  hasCode: async (profile, place) => (await findCode(ports.store.read, profile, place, ports.clock.now())) !== null,
  async redeem(tx, profile, credentials, hash, now) {
    const signIn = await redeemCode(tx, ports.vault, profile, credentials, now);
    // The identity is that of a sign-in with the password, whose names do not include the e-mail address.
    const identity = signIn?.user ? await userIdentity(tx, profile, signIn.user) : null;
    return signIn && identity && replaceUserPassword(tx, profile, { ...signIn, identity }, hash, now);
  },
});
