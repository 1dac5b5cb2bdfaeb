import { emailKey } from '#core/mail/email.ts';
import type { CodeCredentials } from '#ports/sign-in.ts';
import type { Vault } from '#ports/vault.ts';

/** Returns a keyed hash of a code with everything that it is bound to. Whoever reads the database cannot test codes with it. */
export const codeMac = (vault: Vault, { email, browser, viewId, code }: Omit<CodeCredentials, 'address'>): string =>
  vault.mac('sign-in code', JSON.stringify([emailKey(email), browser, viewId, code]));
