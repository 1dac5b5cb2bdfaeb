import { createPrivateKey, sign } from 'node:crypto';
import { promisify } from 'node:util';
import Type from 'typebox';
import type { TokenSettings } from '#core/token-settings.ts';
import type { Outbound } from '#ports/outbound.ts';
import {
  CertificateUnusable,
  type Signatures,
  type SigningCertificate,
  type TimeStampAuthority,
  TokenUnavailable,
} from '#ports/signatures.ts';
import { childScript } from './sandbox/child-script.ts';
import { parseHeader } from './sandbox/parse-header.ts';
import { SandboxedProcess, SandboxFailure } from './sandbox/sandboxed-process.ts';
import type { SignBytes } from './signature/cms-signature.ts';
import { OtherKey, Pkcs11Token } from './signature/pkcs11-token.ts';
import { readPemChain } from './signature/read-token-certificate.ts';

const limits = { memory: 512, taskTime: 10_000, answer: 1 << 20 };

const signAsync = promisify(sign);

const Answer = Type.Object({ key: Type.Object({ pem: Type.String() }), chain: Type.Array(Type.String(), { minItems: 1 }) });

const unusable = (field: CertificateUnusable['field'], message: string) => new CertificateUnusable(field, message);

function errorOf(refused: unknown): CertificateUnusable {
  if (refused === 'password') return unusable('password', 'is not the password of the file');
  if (refused === 'noKey') return unusable('certificate', 'must contain a private key');
  if (refused === 'noCertificate') return unusable('certificate', 'must contain the certificate of its private key');
  if (refused === 'algorithm')
    return unusable('certificate', 'must have an RSA key of 2048 to 4096 bits, or a key of the curve P-256, P-384 or P-521');
  return unusable('certificate', 'must be a PKCS #12 file (.p12 or .pfx)');
}

/**
 * Signs with certificates whose keys are stored, or are in a PKCS #11 token. PKCS #12 files are read in a process of their own, because
 * they may be damaged or hostile.
 */
export class CertificateSignatures implements Signatures {
  readonly #outbound: Pick<Outbound, 'request'>;

  readonly #token: Pkcs11Token | null;

  /** @param token null: the server has none @param environment of this process, which the module of the token may need */
  constructor(outbound: Pick<Outbound, 'request'>, token: TokenSettings | null, environment: Readonly<Record<string, string | undefined>>) {
    this.#outbound = outbound;
    this.#token = token && new Pkcs11Token(token, environment);
  }

  tokenKeyIds(tid: number): readonly string[] {
    return this.#token?.keyIds(tid) ?? [];
  }

  async readTokenCertificate(tid: number, pem: Uint8Array, tokenKeyId: string): Promise<SigningCertificate> {
    const certificate = { chain: readPemChain(pem), key: { tokenKeyId } };
    try {
      await this.#signerOf(tid, certificate)(Buffer.from('test'));
    } catch (cause) {
      throw cause instanceof OtherKey ? unusable('tokenKeyId', 'is not the key of the certificate') : cause;
    }
    return certificate;
  }

  async readPkcs12(file: Uint8Array, password: string): Promise<SigningCertificate> {
    const process = new SandboxedProcess({ ...childScript('pkcs12-child', import.meta.url), nativeCode: false, limits });
    try {
      const { header } = await process.run({ header: { password }, bytes: file });
      if (header['refused'] !== undefined) throw errorOf(header['refused']);
      const { key, chain } = parseHeader(Answer, header);
      const [own, ...issuers] = chain;
      if (own === undefined) throw errorOf('noCertificate');
      return { key, chain: [own, ...issuers] };
    } catch (cause) {
      if (cause instanceof SandboxFailure) throw unusable('certificate', 'takes too long to decrypt, or cannot be read');
      throw cause;
    } finally {
      await process.end();
    }
  }

  async sign(tid: number, digest: Uint8Array, certificate: SigningCertificate, authority: TimeStampAuthority | null): Promise<Uint8Array> {
    // Loaded only when needed, because most installations sign nothing.
    const [{ cmsSignature }, { timeStamper }] = await Promise.all([
      import('./signature/cms-signature.ts'),
      import('./signature/time-stamp.ts'),
    ]);
    const signBytes = this.#signerOf(tid, certificate);
    return cmsSignature(digest, certificate.chain, signBytes, authority && timeStamper(this.#outbound, authority));
  }

  /** @throws TokenUnavailable if the server has no token any more */
  #signerOf(tid: number, { key, chain }: SigningCertificate): SignBytes {
    if ('pem' in key) return (bytes) => signAsync('sha256', bytes, createPrivateKey(key.pem));
    if (!this.#token) throw new TokenUnavailable('The settings name no PKCS #11 token.');
    return this.#token.signerFor(tid, key.tokenKeyId, chain[0]);
  }
}
