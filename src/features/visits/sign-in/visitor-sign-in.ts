import type { VisitAudit } from '#features/audit/visit-audit.ts';
import { SessionRenewals } from '#features/visits/sessions/renew-session.ts';
import { verifiedPasswords } from '#features/visits/sessions/verified-passwords.ts';
import type { Ports } from '#ports/ports.ts';
import { signInKinds } from './sign-in-kinds.ts';

const processKeyBits = 256;

/** Creates the parts of the visitors' sign-in: the kinds of sign-in, the renewals of sessions, and the cache of verified passwords. */
export const visitorSignIn = (ports: Ports, audit: VisitAudit) => ({
  signInKinds: signInKinds(ports),
  renewals: new SessionRenewals(ports.store, audit),
  verifiedPasswords: verifiedPasswords(ports.random.token(processKeyBits)),
});
