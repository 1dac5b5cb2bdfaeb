import type { Page } from 'playwright-core';

export interface VirtualAuthenticator {
  /** Returns the passkeys in the authenticator. */
  credentials(): Promise<readonly unknown[]>;
  remove(): Promise<void>;
}

/** Adds a virtual authenticator to Chromium. It acts as a fingerprint reader whose user always confirms. */
export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const;
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return {
    credentials: async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    remove: async () => void (await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })),
  };
}
