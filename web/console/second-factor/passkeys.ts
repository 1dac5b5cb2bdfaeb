import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { Problem, post } from '#console/api/call.ts';
import type { PasskeyRequest, PasskeySignIn } from '#core/records/passkey.ts';

/** Matches the host of a URL if it is an IP address. Browsers do not support passkeys there. */
const ipAddressHost = /^(?:\d+\.){3}\d+$|^\[/;

/** Returns whether this browser can use passkeys at the address of the console. */
export const canUsePasskeys = (): boolean =>
  window.isSecureContext && browserSupportsWebAuthn() && !ipAddressHost.test(window.location.hostname);

const reasons: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device already has a passkey for your account.',
  NotAllowedError: 'Your browser got no confirmation. Try again, and confirm on your device.',
};

/** Returns an error of the browser as a problem that can be shown. @param advice what to do instead if the reason is not known */
function passkeyProblem(cause: unknown, advice: string): Problem {
  const name = cause instanceof Error ? cause.name : '';
  return new Problem(0, 'passkeyRefused', reasons[name] ?? `Your browser cannot use a passkey here. ${advice}`);
}

/**
 * Creates a passkey with the browser, and adds it to the account.
 * @returns recovery codes, if the account had no second factor before
 * @throws Problem
 */
export async function addPasskey(title: string, currentPassword: string): Promise<readonly string[] | undefined> {
  const { options, challengeToken } = await post('operator/preparePasskey', { currentPassword });
  const credential = await startRegistration({ optionsJSON: options }).catch((cause: unknown) => {
    throw passkeyProblem(cause, 'Use an authenticator app instead.');
  });
  return (await post('operator/addPasskey', { challengeToken, credential, title })).recoveryCodes;
}

/** Lets the operator confirm a sign-in with a passkey. @throws Problem */
export async function confirmSignIn({ options, challengeToken }: PasskeyRequest): Promise<PasskeySignIn> {
  const credential = await startAuthentication({ optionsJSON: options }).catch((cause: unknown) => {
    throw passkeyProblem(cause, 'Enter a code from your authenticator app or a recovery code instead.');
  });
  return { challengeToken, credential };
}
