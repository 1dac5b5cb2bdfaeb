import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { Random } from '#ports/random.ts';
import type { Vault } from '#ports/vault.ts';

const algorithm = 'aes-256-gcm';
const [nonceBytes, tagBytes] = [12, 16];
const nonceBits = 8 * nonceBytes;
const fingerprintBytes = 16;

/**
 * Returns a vault that seals with AES-256-GCM (NIST SP 800-38D). Its keys are derived from the installation's secret key (RFC 5869).
 * @param random source of the nonces: no two texts may be sealed with the same nonce
 */
export function keyVault(secretKey: string, random: Pick<Random, 'token'>): Vault {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'postern: stored secrets', 32));
  const fingerprint = Buffer.from(hkdfSync('sha256', secretKey, '', 'postern: fingerprint', fingerprintBytes)).toString('hex');
  const macKey = Buffer.from(hkdfSync('sha256', secretKey, '', 'postern: keyed hashes', 32));
  return {
    fingerprint,
    mac: (purpose, text) => createHmac('sha256', macKey).update(`${purpose}\n${text}`).digest('base64url'),
    seal(purpose, secret) {
      const nonce = Buffer.from(random.token(nonceBits), 'base64url');
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(purpose));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const tagStart = bytes.length - tagBytes;
      const cipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(tagStart));
      return Buffer.concat([cipher.update(bytes.subarray(nonceBytes, tagStart)), cipher.final()]).toString('utf8');
    },
  };
}
