import { createHash, randomBytes } from 'node:crypto';
import { encodeText } from '#adapters/storage/objects/encode-key.ts';
import type { WebdavConfiguration } from '#core/records/location-configurations.ts';

/** The parameters of a challenge of the scheme Digest. */
interface Digest {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  readonly algorithm: string;
  readonly hash: 'md5' | 'sha256';
  /** Whether the algorithm ends in `-sess`: the secret includes the nonces. */
  readonly isSession: boolean;
  readonly hasQop: boolean;
}

const hashNames: Readonly<Record<string, 'md5' | 'sha256'>> = { MD5: 'md5', 'SHA-256': 'sha256' };
const maxChallenge = 4096; // characters

/** Returns challenges without their quoted texts, which could contain the name of a scheme. */
const withoutQuoted = (header: string) => header.slice(0, maxChallenge).replace(/"(?:[^"\\]|\\.)*"/g, '""');

/** Returns the value of a parameter of a challenge. */
function parameterOf(challenge: string, name: string): string | null {
  const [, quotedValue, token] =
    new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i').exec(challenge) ?? [];
  return quotedValue === undefined ? (token ?? null) : quotedValue.replace(/\\(.)/g, '$1');
}

/** Returns the challenge of the scheme Digest in `www-authenticate`, or null if none is supported (RFC 7616). */
function digestIn(header: string): Digest | null {
  for (const text of header.slice(0, maxChallenge).split(/(?=\bDigest\s)/i)) {
    if (!/^Digest\s/i.test(text)) continue;
    const algorithm = parameterOf(text, 'algorithm') ?? 'MD5';
    const hash = hashNames[algorithm.toUpperCase().replace(/-SESS$/, '')];
    const qop = parameterOf(text, 'qop');
    const [realm, nonce] = [parameterOf(text, 'realm'), parameterOf(text, 'nonce')];
    if (hash === undefined || realm === null || nonce === null || (qop !== null && !/(^|[\s,])auth([\s,]|$)/i.test(qop))) continue;
    return {
      realm,
      nonce,
      opaque: parameterOf(text, 'opaque'),
      algorithm,
      hash,
      isSession: /-sess$/i.test(algorithm),
      hasQop: qop !== null,
    };
  }
  return null;
}

const quote = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/** A name with characters other than printable ASCII is encoded (RFC 7616, 3.4). */
const userParameter = (username: string) =>
  /^[ -~]*$/.test(username) ? `username=${quote(username)}` : `username*=UTF-8''${encodeText(username)}`;

/** The credentials of a location at a WebDAV server. With a password, the server offers schemes, and Postern prefers Digest to Basic. */
export class WebdavAuth {
  readonly #configuration: WebdavConfiguration;
  /** The scheme that the server wants; null: not known yet. */
  #scheme: Digest | 'Basic' | null = null;
  #uses = 0; // of the nonce
  /** One for each challenge: the secret of a session contains the client nonce of its first request (RFC 7616, 3.4.2). */
  #clientNonce = '';
  /** Increases with each challenge that is accepted. */
  version = 0;

  constructor(configuration: WebdavConfiguration) {
    this.#configuration = configuration;
  }

  /**
   * Accepts the challenge of a response.
   * @param header `www-authenticate` of a response with status 401
   * @param version value of the property `version` when the request was sent
   * @returns whether the request may succeed now
   */
  accept(header: string, version: number): boolean {
    if (this.#configuration.username === undefined) return false;
    if (version !== this.version) return true; // another response has brought a challenge meanwhile
    const scheme = digestIn(header) ?? (/(^|[\s,])Basic(\s|,|$)/i.test(withoutQuoted(header)) ? 'Basic' : null);
    if (scheme === null || (scheme === 'Basic' && this.#scheme !== null)) return false;
    if (typeof scheme === 'object' && typeof this.#scheme === 'object' && this.#scheme?.nonce === scheme.nonce) return false;
    [this.#scheme, this.#uses, this.#clientNonce] = [scheme, 0, randomBytes(12).toString('hex')];
    this.version += 1;
    return true;
  }

  /** Whether a request must first find out which scheme the server wants. */
  get isSchemeUnknown(): boolean {
    return this.#scheme === null && this.#configuration.username !== undefined;
  }

  /**
   * Returns the value of `authorization` for a request; null: there are no credentials, or the scheme is not known yet.
   * @param target path and query
   */
  header(method: string, target: string): string | null {
    const { username, password = '', bearerToken } = this.#configuration;
    if (bearerToken !== undefined) return `Bearer ${bearerToken}`;
    if (username === undefined || this.#scheme === null) return null;
    if (this.#scheme === 'Basic') return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return this.#digestHeader(this.#scheme, username, password, method, target);
  }

  #digestHeader(digest: Digest, username: string, password: string, method: string, target: string): string {
    const { realm, nonce, opaque, algorithm, isSession, hasQop } = digest;
    const hash = (text: string) => createHash(digest.hash).update(text).digest('hex');
    this.#uses += 1;
    const [count, client] = [this.#uses.toString(16).padStart(8, '0'), this.#clientNonce];
    const [user, request] = [hash(`${username}:${realm}:${password}`), hash(`${method}:${target}`)];
    const secret = isSession ? hash(`${user}:${nonce}:${client}`) : user;
    const response = hash(hasQop ? `${secret}:${nonce}:${count}:${client}:auth:${request}` : `${secret}:${nonce}:${request}`);
    const parts = [
      ...[userParameter(username), `realm=${quote(realm)}`, `nonce=${quote(nonce)}`, `uri=${quote(target)}`],
      ...[`response="${response}"`, `algorithm=${algorithm}`],
      ...(hasQop ? ['qop=auth', `nc=${count}`, `cnonce="${client}"`] : []),
      ...(opaque === null ? [] : [`opaque=${quote(opaque)}`]),
    ];
    return `Digest ${parts.join(', ')}`;
  }
}
