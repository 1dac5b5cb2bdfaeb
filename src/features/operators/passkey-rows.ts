import { passkeyAlgorithms } from '#core/passkey-algorithms.ts';
import type { PasskeyPreparation, PasskeyRequest } from '#core/records/passkey.ts';
import type { Passkey } from '#ports/passkeys.ts';
import type { Vault } from '#ports/vault.ts';
import type { selectSecondFactors } from './second-factor-rows.ts';

const purpose = 'passkey';

type FactorRow = Awaited<ReturnType<typeof selectSecondFactors>>[number];

/** Returns a passkey as the database stores it: sealed, so that nobody can forge one without the secret key of Postern. */
export const sealPasskey = (vault: Vault, passkey: Passkey): string => vault.seal(purpose, JSON.stringify(passkey));

/** A stored passkey, and the row that holds it. */
export type StoredPasskey = Passkey & { readonly row: FactorRow };

export const passkeysOf = (factors: readonly FactorRow[], vault: Vault): StoredPasskey[] =>
  factors.filter(({ kind }) => kind === 'passkey').map((row) => ({ ...JSON.parse(vault.open(purpose, row.secret)), row }));

const type = 'public-key' as const;
const descriptors = (passkeys: readonly Passkey[]) =>
  passkeys.map(({ credentialId, transports }) => ({ type, id: credentialId, transports: [...transports] }));

const timeout = 120_000; // ms: how long the browser waits for the device
const userVerification = 'preferred';

/**
 * Returns the options with which a browser creates a passkey (PublicKeyCredentialCreationOptionsJSON). They name no host: the browser
 * binds the passkey to the host of the page.
 */
export function creationOptions(
  vault: Vault,
  { id, name }: { readonly id: number; readonly name: string },
  challenge: string,
  existing: readonly Passkey[],
): PasskeyPreparation['options'] {
  return {
    rp: { name: 'Postern' },
    user: { id: vault.mac('user of passkeys', String(id)), name, displayName: name },
    ...{ challenge, timeout, attestation: 'none' },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type, alg })),
    excludeCredentials: descriptors(existing),
    authenticatorSelection: { residentKey: 'preferred', userVerification },
  };
}

/** Returns the options with which a browser uses one of the passkeys (PublicKeyCredentialRequestOptionsJSON). */
export const requestOptions = (passkeys: readonly Passkey[], challenge: string): PasskeyRequest['options'] => ({
  ...{ challenge, timeout, userVerification },
  allowCredentials: descriptors(passkeys),
});
