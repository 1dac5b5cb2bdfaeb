import { formatInstant } from '#core/instant.ts';
import { secretMask } from '#core/records/login-profile.ts';
import type { SignatureRecord } from '#core/records/signature.ts';
import type { SigningCertificate } from '#ports/signatures.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret, type Vault } from '#ports/vault.ts';
import { certificateDetails } from './certificate-details.ts';

const keyPurpose = 'signing key';

/** A stored certificate. Its key is sealed. */
export interface StoredSignature {
  readonly chain: SigningCertificate['chain'];
  readonly sealedKey: string;
  /** Empty: no time stamps. */
  readonly timestampUrl: string;
}

function parseChain(text: string): SigningCertificate['chain'] {
  const [own, ...issuers] = text.split(' ');
  return [own ?? '', ...issuers];
}

/** Returns the certificate of a tenant, or null. */
export async function findSignature(db: Tx, tid: number): Promise<StoredSignature | null> {
  const row = await db.selectFrom('signature').selectAll().where('tid', '=', tid).executeTakeFirst();
  return row ? { chain: parseChain(row.chain), sealedKey: row.private_key, timestampUrl: row.timestamp_url } : null;
}

/** Stores the certificate of a tenant in place of its former one. */
export async function storeSignature(tx: Tx, tid: number, { chain, sealedKey, timestampUrl }: StoredSignature): Promise<void> {
  const columns = { chain: chain.join(' '), private_key: sealedKey, timestamp_url: timestampUrl };
  await tx
    .insertInto('signature')
    .values({ tid, ...columns })
    .onConflict((conflict) => conflict.column('tid').doUpdateSet(columns))
    .execute();
}

export const sealKey = (vault: Vault, key: string): string => vault.seal(keyPurpose, key);

/** Returns the certificate with its key; null: the key was lost together with the secret key of the installation. */
export function openSignature(vault: Vault, { chain, sealedKey }: StoredSignature): SigningCertificate | null {
  const key = openStoredSecret(vault, keyPurpose, sealedKey);
  return key === '' ? null : { chain, key };
}

const emptyRecord: SignatureRecord = {
  ...{ subject: null, issuer: null, serialNumber: null, validFrom: null, validTo: null },
  ...{ certificate: null, password: null, timestampUrl: null },
};

/** Returns the certificate as responses and audit entries show it: without secrets. */
export function signatureRecord(stored: StoredSignature | null): SignatureRecord {
  if (!stored) return emptyRecord;
  const { validFrom, validTo, ...names } = certificateDetails(stored);
  return {
    ...names,
    ...{ validFrom: formatInstant(validFrom), validTo: formatInstant(validTo) },
    ...{ certificate: secretMask, password: secretMask, timestampUrl: stored.timestampUrl || null },
  };
}
