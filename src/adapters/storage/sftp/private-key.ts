import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import type { ParsedKey } from 'ssh2';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { endThread, startThread } from '#adapters/os/thread.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import type { EncryptedKey } from './sftp-key-thread.ts';

const timeLimit = 10_000; // ms: the key file states how many times its passphrase is hashed
const maxBits = 4096; // of an RSA key: longer keys make signatures slow

/** Why a private key cannot be used. The message continues a sentence that begins with `privateKey`. */
export class KeyUnusable extends Error {}

/** Reads the private keys of locations. Keys with a passphrase are decrypted in a thread, one after the other, in turns by tenant. */
export class PrivateKeys {
  readonly #inTurn: FairScheduler = fairScheduler(1);

  /** Returns the key of a configuration. @throws KeyUnusable */
  async read({ privateKey = '', passphrase }: SftpConfiguration, tid: number): Promise<ParsedKey> {
    const pem = passphrase === undefined ? privateKey : await this.#inTurn(`${tid}`, () => decrypt({ privateKey, passphrase }));
    const { utils } = (await import('ssh2')).default;
    const key = utils.parseKey(pem);
    if (key instanceof Error || !key.isPrivateKey())
      throw new KeyUnusable('must be a private key in PEM or OpenSSH format; an encrypted key needs passphrase');
    if (key.type === 'ssh-rsa' && bitsOf(key.getPublicPEM()) > maxBits) throw new KeyUnusable(`must not have more than ${maxBits} bits`);
    return key;
  }
}

const bitsOf = (publicPem: string) => createPublicKey(publicPem).asymmetricKeyDetails?.modulusLength ?? 0;

/** @throws KeyUnusable if the passphrase is wrong or takes too long to hash, or the thread fails */
async function decrypt(key: EncryptedKey): Promise<string> {
  const thread = startThread('./sftp-key-thread', import.meta.url, key);
  try {
    const [pem]: (string | null)[] = await once(thread, 'message', { signal: AbortSignal.timeout(timeLimit) });
    if (typeof pem !== 'string') throw new KeyUnusable('cannot be decrypted with passphrase');
    return pem;
  } catch (cause) {
    if (cause instanceof KeyUnusable) throw cause;
    if (!(cause instanceof Error) || cause.name !== 'AbortError') throw new KeyUnusable('cannot be decrypted now: try again', { cause });
    throw new KeyUnusable('takes too long to decrypt: use fewer rounds (ssh-keygen -a)', { cause });
  } finally {
    await endThread(thread);
  }
}
