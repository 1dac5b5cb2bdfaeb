// The script of the thread that examines a private key: hashing its passphrase and a first signature can take long.
import { createPublicKey } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import ssh2, { type ParsedKey } from 'ssh2';

export interface ConfiguredKey {
  readonly privateKey: string;
  readonly passphrase?: string | undefined;
}

/** The key in PEM without a passphrase, or why it cannot be used, as `KeyUnusable`. */
export type ExaminedKey = { readonly pem: string } | { readonly problem: string };

const types = new Set(['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']);
/** Of an RSA key. With the length of its PEM text, which contains all its numbers, this limits the time of a signature. */
const [maxBits, maxPemLength] = [4096, 4096];
const maxSigningTime = 100_000; // µs of CPU time. RSA with 4096 bits takes 5 ms, but its numbers may be chosen so that it takes longer

const bitsOf = (publicPem: string) => createPublicKey(publicPem).asymmetricKeyDetails?.modulusLength ?? 0;

function signingTime(key: ParsedKey): number {
  const start = process.threadCpuUsage();
  const signature: Buffer | Error = key.sign(Buffer.alloc(64));
  const { user, system } = process.threadCpuUsage(start);
  return signature instanceof Error ? Number.POSITIVE_INFINITY : user + system;
}

function examine({ privateKey, passphrase }: ConfiguredKey): ExaminedKey {
  const key = ssh2.utils.parseKey(privateKey, passphrase);
  if (key instanceof Error || !key.isPrivateKey())
    return {
      problem:
        passphrase === undefined
          ? 'must be a private key in PEM or OpenSSH format; an encrypted key needs passphrase'
          : 'cannot be decrypted with passphrase',
    };
  if (!types.has(key.type)) return { problem: 'must be an Ed25519, ECDSA or RSA key' };
  const pem: string = key.getPrivatePEM();
  if (key.type === 'ssh-rsa' && bitsOf(key.getPublicPEM()) > maxBits) return { problem: `must not have more than ${maxBits} bits` };
  if (pem.length > maxPemLength || signingTime(key) > maxSigningTime) return { problem: 'takes too long to sign: create another key' };
  return { pem };
}

const configured: ConfiguredKey = workerData;
parentPort?.postMessage(examine(configured));
