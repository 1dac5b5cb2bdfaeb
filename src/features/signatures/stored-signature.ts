import { formatInstant } from '#core/instant.ts';
import { secretMask } from '#core/records/login-profile.ts';
import type { SignatureRecord } from '#core/records/signature.ts';
import type { SigningCertificate, SigningKey } from '#ports/signatures.ts';
import type { Tx } from '#ports/store.ts';
import { openStoredSecret, type Vault } from '#ports/vault.ts';
import { certificateDetails } from './certificate-details.ts';

const keyPurpose = 'signing key';

/** A stored certificate. Its key is sealed, or in the PKCS #11 token of the server. */
export interface StoredSignature {
  readonly chain: SigningCertificate['chain'];
  /** Empty: the key is in the token. */
  readonly sealedKey: string;
  /** Empty: the key is stored. */
  readonly tokenKeyId: string;
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
  if (!row) return null;
  return { chain: parseChain(row.chain), sealedKey: row.private_key, tokenKeyId: row.token_key_id, timestampUrl: row.timestamp_url };
}

/** Stores the certificate of a tenant in place of its former one. */
export async function storeSignature(tx: Tx, tid: number, { chain, sealedKey, tokenKeyId, timestampUrl }: StoredSignature): Promise<void> {
  const columns = { chain: chain.join(' '), private_key: sealedKey, token_key_id: tokenKeyId, timestamp_url: timestampUrl };
  await tx
    .insertInto('signature')
    .values({ tid, ...columns })
    .onConflict((conflict) => conflict.column('tid').doUpdateSet(columns))
    .execute();
}

/** Returns how a key is stored. */
export function storedKey(vault: Vault, key: SigningKey): Pick<StoredSignature, 'sealedKey' | 'tokenKeyId'> {
  return 'pem' in key ? { sealedKey: vault.seal(keyPurpose, key.pem), tokenKeyId: '' } : { sealedKey: '', tokenKeyId: key.tokenKeyId };
}

/** Returns the certificate with its key; null: the key was lost together with the secret key of the installation. */
export function openSignature(vault: Vault, { chain, sealedKey, tokenKeyId }: StoredSignature): SigningCertificate | null {
  if (tokenKeyId !== '') return { chain, key: { tokenKeyId } };
  const pem = openStoredSecret(vault, keyPurpose, sealedKey);
  return pem === '' ? null : { chain, key: { pem } };
}

const emptyRecord: SignatureRecord = {
  ...{ subject: null, issuer: null, serialNumber: null, validFrom: null, validTo: null },
  ...{ certificate: null, password: null, tokenKeyId: null, timestampUrl: null },
};

/** Returns the certificate as responses and audit entries show it: without secrets. */
export function signatureRecord(stored: StoredSignature | null): SignatureRecord {
  if (!stored) return emptyRecord;
  const { validFrom, validTo, ...names } = certificateDetails(stored);
  return {
    ...names,
    ...{ validFrom: formatInstant(validFrom), validTo: formatInstant(validTo) },
    ...{ certificate: secretMask, password: secretMask },
    ...{ tokenKeyId: stored.tokenKeyId || null, timestampUrl: stored.timestampUrl || null },
  };
}
