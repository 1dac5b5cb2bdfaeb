import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ParsedKey } from 'ssh2';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { endThread, startThread } from '#adapters/os/thread.ts';
import { setAndEvict } from '#core/bounded-map.ts';
import { addCount } from '#core/count-by-key.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import type { ConfiguredKey, ExaminedKey } from './sftp-key-thread.ts';

const timeLimit = 10_000; // ms
/** Maximum number of threads that examine keys at the same time: in total, and for one tenant. */
const [maxThreads, maxThreadsOfTenant] = [2, 1];
const maxWaitingOfTenant = 32; // keys
const [maxTenants, maxKeysOfTenant] = [1000, 100]; // examined keys that are kept

/** Why a private key cannot be used. The message continues a sentence that begins with `privateKey`. */
export class KeyUnusable extends Error {}

const hashOf = (key: ConfiguredKey) =>
  createHash('sha256')
    .update(JSON.stringify([key.privateKey, key.passphrase]))
    .digest('base64');

/** Reads the private keys of locations. A thread examines and decrypts a key; usable keys are then kept. Tenants take turns. */
export class PrivateKeys {
  readonly #inTurn: FairScheduler = fairScheduler(maxThreads, maxThreadsOfTenant);
  readonly #waitingCounts = new Map<number, number>();
  /** The usable keys, decrypted, by tenant and by the hash of the configured key and passphrase. */
  readonly #usableKeys = new Map<number, Map<string, string>>();

  /** Returns the key of a configuration. @throws KeyUnusable */
  async read({ privateKey = '', passphrase }: SftpConfiguration, tid: number): Promise<ParsedKey> {
    const configured = { privateKey, passphrase };
    const hash = hashOf(configured);
    const text = this.#usableKeys.get(tid)?.get(hash) ?? (await this.#examineInTurn(configured, tid));
    const { utils } = (await import('ssh2')).default;
    const key = utils.parseKey(text);
    if (key instanceof Error) throw new KeyUnusable('cannot be read', { cause: key });
    const ofTenant = this.#usableKeys.get(tid) ?? new Map<string, string>();
    setAndEvict(ofTenant, hash, text, maxKeysOfTenant);
    setAndEvict(this.#usableKeys, tid, ofTenant, maxTenants);
    return key;
  }

  async #examineInTurn(key: ConfiguredKey, tid: number): Promise<string> {
    if ((this.#waitingCounts.get(tid) ?? 0) >= maxWaitingOfTenant)
      throw new KeyUnusable('cannot be examined now, because too many keys of this tenant wait: try again');
    addCount(this.#waitingCounts, tid, 1);
    try {
      return await this.#inTurn(`${tid}`, () => examine(key));
    } finally {
      addCount(this.#waitingCounts, tid, -1);
    }
  }
}

/** @returns the key without a passphrase @throws KeyUnusable if the key cannot be used or takes too long, or the thread fails */
async function examine(key: ConfiguredKey): Promise<string> {
  const thread = startThread('./sftp-key-thread', import.meta.url, key).on('error', () => {}); // `once` does not listen after the time limit
  try {
    const [examined]: ExaminedKey[] = await once(thread, 'message', { signal: AbortSignal.timeout(timeLimit) });
    if (!examined || 'problem' in examined) throw new KeyUnusable(examined?.problem ?? 'cannot be read');
    return examined.text;
  } catch (cause) {
    if (cause instanceof KeyUnusable) throw cause;
    throw new KeyUnusable('cannot be examined now: try again', { cause });
  } finally {
    await endThread(thread);
  }
}
