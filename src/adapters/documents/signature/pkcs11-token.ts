import { createHash, verify, X509Certificate } from 'node:crypto';
import { runCommand } from '#adapters/documents/run-command.ts';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { addCount } from '#core/count-by-key.ts';
import type { TokenSettings } from '#core/token-settings.ts';
import { TokenUnavailable } from '#ports/signatures.ts';
import type { SignBytes } from './cms-signature.ts';

const program = '/usr/bin/pkcs11-tool';
const limits = { time: 15_000, memory: 512, output: 1 << 16 };
const maxConcurrent = 2; // sessions of the token
const maxWaiting = 8; // signatures of one tenant, the running one included
const restTime = 30_000; // ms without attempts after the token has not responded
const maxTries = 2; // some modules do not find their token while another session begins
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
  /** One tenant cannot keep the token from the others. */
  readonly #inTurn: FairScheduler;
  /** Signatures that run or wait, by tenant. */
  readonly #waiting = new Map<number, number>();
  /** true: the PIN was wrong. No further attempt is made, because a token is locked after a few attempts with a wrong PIN. */
  #isPinWrong = false;
  #restsUntil = 0;
  /** true: the token has not responded. After the rest, one signature tries it while all others are refused. */
  #isSilent = false;
  #running = 0;

  /** @param environment that the module may need, for example the path of its configuration */
  constructor(settings: TokenSettings, environment: Readonly<Record<string, string | undefined>>) {
    this.#settings = settings;
    this.#inTurn = fairScheduler(maxConcurrent, settings.keyIds.size > 1 ? 1 : maxConcurrent);
    this.#environment = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('POSTERN_')));
  }

  keyIds(tid: number): readonly string[] {
    return this.#settings.keyIds.get(tid) ?? [];
  }

  /** Returns a function that signs with a key of a tenant. It throws TokenUnavailable. @param certificate of the key, DER in base64 */
  signerFor(tid: number, keyId: string, certificate: string): SignBytes {
    const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
    return async (bytes) => {
      this.#checkUsable();
      const signature = await this.#runInTurn(tid, () => this.#sign(keyId, publicKey.asymmetricKeyType === 'rsa', bytes));
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
    if (performance.now() < this.#restsUntil || (this.#isSilent && this.#running > 0))
      throw new TokenUnavailable('The PKCS #11 token does not respond.');
  }

  async #runInTurn<T>(tid: number, work: () => Promise<T>): Promise<T> {
    if ((this.#waiting.get(tid) ?? 0) >= maxWaiting) throw new TokenUnavailable('Too many signatures wait for the PKCS #11 token.');
    addCount(this.#waiting, tid, 1);
    try {
      return await this.#inTurn(`${tid}`, async () => {
        this.#checkUsable(); // an earlier signature may have found that the token cannot be used
        this.#running += 1;
        return await work().finally(() => {
          this.#running -= 1;
        });
      });
    } finally {
      addCount(this.#waiting, tid, -1);
    }
  }

  async #sign(keyId: string, isRsa: boolean, bytes: Uint8Array, tries = 1): Promise<Uint8Array> {
    const { module, label, pin } = this.#settings;
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
    this.#isSilent = end === 'stopped';
    if (end === 'stopped') {
      this.#restsUntil = performance.now() + restTime;
      throw new TokenUnavailable('The PKCS #11 token does not respond, or its module has crashed.');
    }
    if (end === 'done' && output.length > 0) return output;
    if (/CKR_PIN_(INCORRECT|LOCKED)/.test(error)) this.#isPinWrong = true;
    else if (tries < maxTries && /^No slot /m.test(error)) return this.#sign(keyId, isRsa, bytes, tries + 1);
    throw new TokenUnavailable(`The PKCS #11 token does not sign: ${problemOf(error)}.`);
  }
}

/** Returns the error of pkcs11-tool: its line with `error: `, or else its last line. */
function problemOf(error: string): string {
  const lines = error.trim().split('\n');
  const line = lines.find((text) => text.startsWith('error: ')) || lines.at(-1) || 'pkcs11-tool has failed';
  return line.replace(/^error: /, '').replace(/\.$/, '');
}
