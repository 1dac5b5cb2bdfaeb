import { verifiedPasswords } from '#features/visits/sessions/verified-passwords.ts';
import type { Ports } from '#ports/ports.ts';
import { signInKinds } from './sign-in-kinds.ts';

const processKeyBits = 256;

/** Creates what signs visitors in: the kinds of sign-in, and the cache of verified passwords. */
export const visitorSignIn = (ports: Ports) => ({
  signInKinds: signInKinds(ports),
  verifiedPasswords: verifiedPasswords(ports.random.token(processKeyBits)),
});
