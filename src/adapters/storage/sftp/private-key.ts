import { once } from 'node:events';
import type { ParsedKey } from 'ssh2';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { endThread, startThread } from '#adapters/os/thread.ts';
import { setAndEvict } from '#core/bounded-map.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import type { ConfiguredKey, ExaminedKey } from './sftp-key-thread.ts';

const timeLimit = 10_000; // ms: the key file states how many times its passphrase is hashed
const maxExamined = 1000; // keys

/** Why a private key cannot be used. The message continues a sentence that begins with `privateKey`. */
export class KeyUnusable extends Error {}

/** Reads the private keys of locations. A thread examines and decrypts them, one after the other, in turns by tenant. */
export class PrivateKeys {
  readonly #inTurn: FairScheduler = fairScheduler(1);
  /** The keys without a passphrase that can be used, as they stand in configurations. */
  readonly #usableKeys = new Map<string, true>();

  /** Returns the key of a configuration. @throws KeyUnusable */
  async read({ privateKey = '', passphrase }: SftpConfiguration, tid: number): Promise<ParsedKey> {
    const pem = this.#usableKeys.has(privateKey) ? privateKey : await this.#inTurn(`${tid}`, () => examine({ privateKey, passphrase }));
    const { utils } = (await import('ssh2')).default;
    const key = utils.parseKey(pem);
    if (key instanceof Error) throw new KeyUnusable('cannot be read', { cause: key });
    if (passphrase === undefined) setAndEvict(this.#usableKeys, privateKey, true, maxExamined);
    return key;
  }
}

/** @returns the key in PEM without a passphrase @throws KeyUnusable if the key cannot be used or takes too long, or the thread fails */
async function examine(key: ConfiguredKey): Promise<string> {
  const thread = startThread('./sftp-key-thread', import.meta.url, key);
  try {
    const [examined]: ExaminedKey[] = await once(thread, 'message', { signal: AbortSignal.timeout(timeLimit) });
    if (!examined || 'problem' in examined) throw new KeyUnusable(examined?.problem ?? 'cannot be read');
    return key.passphrase === undefined ? key.privateKey : examined.pem;
  } catch (cause) {
    if (cause instanceof KeyUnusable) throw cause;
    if (!(cause instanceof Error) || cause.name !== 'AbortError') throw new KeyUnusable('cannot be decrypted now: try again', { cause });
    throw new KeyUnusable('takes too long to decrypt: use fewer rounds (ssh-keygen -a)', { cause });
  } finally {
    await endThread(thread);
  }
}
