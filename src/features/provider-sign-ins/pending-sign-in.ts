import type { Ports } from '#ports/ports.ts';

/** Time in ms within which a sign-in at a provider must end, and a test must begin. */
export const providerSignInTime = 10 * 60_000;

type SealPorts = Pick<Ports, 'vault' | 'clock'>;

/**
 * Encrypts the state of a started sign-in for the browser, or the permission to test a sign-in.
 * @param purpose `openPending` accepts only the same purpose
 */
export const sealPending = ({ vault, clock }: SealPorts, purpose: string, signIn: object): string =>
  vault.seal(purpose, JSON.stringify({ ...signIn, until: clock.now() + providerSignInTime }));

/** Returns what `sealPending` has sealed, or null if its purpose or its time does not fit, or if it cannot be decrypted. */
export function openPending<SignIn extends object>({ vault, clock }: SealPorts, purpose: string, sealed: string): SignIn | null {
  let signIn: SignIn & { readonly until: number };
  try {
    signIn = JSON.parse(vault.open(purpose, sealed));
  } catch {
    return null; // not sealed by this installation for this purpose
  }
  const remaining = signIn.until - clock.now();
  return remaining >= 0 && remaining <= providerSignInTime ? signIn : null;
}
