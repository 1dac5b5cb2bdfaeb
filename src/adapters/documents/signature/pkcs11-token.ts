import { createHash, verify, X509Certificate } from 'node:crypto';
import pLimit from 'p-limit';
import { runCommand } from '#adapters/documents/run-command.ts';
import type { TokenSettings } from '#core/token-settings.ts';
import { TokenUnavailable } from '#ports/signatures.ts';
import type { SignBytes } from './cms-signature.ts';

const program = '/usr/bin/pkcs11-tool';
const limits = { time: 15_000, memory: 512, output: 1 << 16 };
const maxConcurrent = 2; // sessions of the token
const maxWaiting = 8;
const restTime = 30_000; // ms without attempts after the token has not responded
const pinVariable = 'POSTERN_TOKEN_PIN';
/** The beginning of the DigestInfo of a SHA-256 hash (RFC 8017, 9.2). RSA signs the DigestInfo. */
const digestInfo = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/** The key is not that of the certificate. */
export class OtherKey extends TokenUnavailable {}

/**
 * Signs with keys in a PKCS #11 token, by the program pkcs11-tool of OpenSC: the library of the manufacturer is native code, and may hang,
 * so it is never loaded into Postern.
 */
export class Pkcs11Token {
  readonly #settings: TokenSettings;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #limit = pLimit(maxConcurrent);
  /** true: the PIN was wrong. No further attempt is made, because a token is locked after a few attempts with a wrong PIN. */
  #isPinWrong = false;
  #restsUntil = 0;

  /** @param environment that the module may need, for example the path of its configuration */
  constructor(settings: TokenSettings, environment: Readonly<Record<string, string | undefined>>) {
    this.#settings = settings;
    this.#environment = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('POSTERN_')));
  }

  keyIds(tid: number): readonly string[] {
    return this.#settings.keyIds.get(tid) ?? [];
  }

  /** Returns a function that signs with a key. It throws TokenUnavailable. @param certificate of the key, DER in base64 */
  signerFor(keyId: string, certificate: string): SignBytes {
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return async (bytes) => {
      this.#checkUsable();
      const signature = await this.#limit(() => this.#sign(keyId, publicKey.asymmetricKeyType === 'rsa', bytes));
      if (!verify('sha256', bytes, publicKey, signature))
        throw new OtherKey('The key in the PKCS #11 token is not that of the certificate.');
      return signature;
    };
  }

  #checkPin(): void {
    if (this.#isPinWrong) throw new TokenUnavailable('The PIN of the PKCS #11 token is wrong. Correct it, and restart Postern.');
  }

  /** @throws TokenUnavailable without an attempt, if it would fail or wait for long */
  #checkUsable(): void {
    this.#checkPin();
    if (performance.now() < this.#restsUntil) throw new TokenUnavailable('The PKCS #11 token does not respond.');
    if (this.#limit.pendingCount >= maxWaiting) throw new TokenUnavailable('Too many signatures wait for the PKCS #11 token.');
  }

  async #sign(keyId: string, isRsa: boolean, bytes: Uint8Array): Promise<Uint8Array> {
    const { module, label, pin } = this.#settings;
    this.#checkPin(); // another signature may have found the PIN wrong while this one waited
    const digest = createHash('sha256').update(bytes).digest();
    const mechanism = isRsa ? ['RSA-PKCS'] : ['ECDSA', '--signature-format', 'openssl'];
    const parameters = ['--module', module, '--token-label', label, '--login', '--pin', `env:${pinVariable}`, '--id', keyId, '--sign'];
    const { end, output, error } = await runCommand(
      [program, ...parameters, '--mechanism', ...mechanism],
      isRsa ? Buffer.concat([digestInfo, digest]) : digest,
      limits,
      { ...this.#environment, [pinVariable]: pin },
    ).catch((cause: unknown) => {
      throw new TokenUnavailable(`${program} cannot be started. Is OpenSC installed?`, { cause });
    });
    if (end === 'stopped') {
      this.#restsUntil = performance.now() + restTime;
      throw new TokenUnavailable('The PKCS #11 token does not respond, or its module has crashed.');
    }
    this.#isPinWrong = /CKR_PIN_(INCORRECT|LOCKED)/.test(error);
    if (end === 'failed' || output.length === 0) throw new TokenUnavailable(`The PKCS #11 token does not sign: ${problemOf(error)}.`);
    return output;
  }
}

/** Returns the error of pkcs11-tool, without the lines that only say what it does. */
function problemOf(error: string): string {
  const line = error.split('\n').find((text) => text.startsWith('error: ')) ?? 'pkcs11-tool has failed';
  return line.replace(/^error: /, '').replace(/\.$/, '');
}
