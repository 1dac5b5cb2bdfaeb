import { emailKey } from '#core/mail/email.ts';
import type { CodeCredentials } from '#ports/sign-in.ts';
import type { Vault } from '#ports/vault.ts';

/** Returns a keyed hash of a code with its address, browser and link. Without the key, nobody can use the database to test codes. */
export const codeMac = (vault: Vault, { email, browser, viewId, code }: Omit<CodeCredentials, 'address'>): string =>
  vault.mac('sign-in code', JSON.stringify([emailKey(email), browser, viewId, code]));
