import { codeUserIdentity, findCodeRecipient } from '#features/visits/codes/code-recipient.ts';
import { enqueueCodeMail } from '#features/visits/codes/enqueue-code-mail.ts';
import { verifyCode } from '#features/visits/codes/verify-code.ts';
import type { Ports } from '#ports/ports.ts';
import type { Identity, SignInKind } from '#ports/sign-in.ts';

type KindPorts = Pick<Ports, 'store' | 'clock' | 'random' | 'vault' | 'mail'>;

/**
 * EMAIL_CODE: a code by e-mail, for access users and for the addresses that the profile allows. For example, the sign-in of a user ends
 * when the user becomes inactive or gets another address, and the sign-in of an allowed address when the profile no longer allows it, or
 * when it becomes the address of an access user.
 */
export const emailCodeKind = (ports: KindPorts): SignInKind => ({
  code: {
    request: (profile, request) => enqueueCodeMail(ports, profile, request, 'signIn'),
    verify: (profile, credentials) => verifyCode(ports, profile, credentials),
  },
  async reauthenticate(profile, signIn) {
    const { user } = signIn;
    const { read } = ports.store;
    const findIdentity = async (): Promise<Identity | null> => {
      if (user) return codeUserIdentity(read, profile, user);
      const recipient = await findCodeRecipient(ports.vault, read, profile, signIn.identity.email);
      return recipient && recipient.user === null ? recipient.identity : null;
    };
    const visitorKey = user ? `user ${user.id} ${user.epoch}` : `address ${signIn.identity.email}`;
    const identity = await ports.store.cachedUntilChange(`code ${profile.profile_id} ${visitorKey}`, findIdentity);
    return identity?.subject === signIn.identity.subject ? { ...signIn, identity } : null;
  },
});
