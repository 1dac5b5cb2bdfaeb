// The script of the thread that examines a private key: hashing its passphrase and a first signature can take long.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import ssh2, { type ParsedKey } from 'ssh2';
import { formatEd25519, passphraseRounds } from './openssh-key.ts';

export interface ConfiguredKey {
  readonly privateKey: string;
  readonly passphrase?: string | undefined;
}

/** The key without a passphrase, in a format that the library can read; or the message for a `KeyUnusable`. */
export type ExaminedKey = { readonly text: string } | { readonly problem: string };

const types = new Set(['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']);
/** The most bits of an RSA key, and characters of the PEM text of any key. Both limits bound the time of a signature. */
const [maxBits, maxPemLength] = [4096, 4096];
const maxRounds = 128; // of hashing a passphrase, which take two seconds. `ssh-keygen` uses 16 or 24 by default
const maxSigningTime = 50_000; // µs of CPU time. RSA with 4096 bits takes 5 ms, but its numbers may be chosen so that it takes longer

const bitsOf = (publicPem: string) => createPublicKey(publicPem).asymmetricKeyDetails?.modulusLength ?? 0;

function signingTime(key: ParsedKey): number {
  const start = process.threadCpuUsage();
  const signature: Buffer | Error = key.sign(Buffer.alloc(64));
  const { user, system } = process.threadCpuUsage(start);
  return signature instanceof Error ? Number.POSITIVE_INFINITY : user + system;
}

/** Returns an unencrypted key as a text that the library can read. The library writes Ed25519 keys in a format that it cannot read. */
function textOf(key: ParsedKey): string {
  const pem: string = key.getPrivatePEM();
  if (key.type !== 'ssh-ed25519') return pem;
  const der = createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' });
  return formatEd25519(der.subarray(-32), key.getPublicSSH());
}

function examine({ privateKey, passphrase }: ConfiguredKey): ExaminedKey {
  if (passphraseRounds(privateKey) > maxRounds)
    return { problem: `takes too long to decrypt: use at most ${maxRounds} rounds (ssh-keygen -a)` };
  const key = ssh2.utils.parseKey(privateKey, passphrase);
  if (key instanceof Error || !key.isPrivateKey())
    return {
      problem:
        passphrase === undefined
          ? 'must be a private key in PEM or OpenSSH format; an encrypted key needs passphrase'
          : 'cannot be decrypted with passphrase, or is not a private key in PEM or OpenSSH format',
    };
  if (!types.has(key.type)) return { problem: 'must be an Ed25519, ECDSA or RSA key' };
  if (key.type === 'ssh-rsa' && bitsOf(key.getPublicPEM()) > maxBits) return { problem: `must not have more than ${maxBits} bits` };
  if (key.getPrivatePEM().length > maxPemLength || signingTime(key) > maxSigningTime)
    return { problem: 'takes too long to sign: create another key' };
  return { text: textOf(key) };
}

const configured: ConfiguredKey = workerData;
parentPort?.postMessage(examine(configured));
