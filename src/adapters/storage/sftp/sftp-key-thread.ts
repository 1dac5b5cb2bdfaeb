// The script of the thread that decrypts a private key: its passphrase is hashed many times.
import { parentPort, workerData } from 'node:worker_threads';
import ssh2 from 'ssh2';

export interface EncryptedKey {
  readonly privateKey: string;
  readonly passphrase: string;
}

const { privateKey, passphrase }: EncryptedKey = workerData;
const key = ssh2.utils.parseKey(privateKey, passphrase);
/** The key in PEM without a passphrase; null: the passphrase is wrong, or the text is not a private key. */
const pem: string | null = key instanceof Error || !key.isPrivateKey() ? null : key.getPrivatePEM();
parentPort?.postMessage(pem);
