import { createPrivateKey } from 'node:crypto';
import type * as Library from 'openid-client';
import type { FairScheduler } from '#adapters/os/fair-scheduler.ts';
import { parseClientKey } from '#core/openid/client-key.ts';
import type { OpenIdClient } from '#ports/openid.ts';
import { ProviderRefused, ProviderUnavailable } from '#ports/provider-errors.ts';

const maxWait = 4000; // ms; a request that has waited longer is refused when its turn comes

/** Returns a private key as the library needs it. @throws ProviderRefused if it cannot be used */
async function importKey(pem: string): Promise<CryptoKey> {
  try {
    const parsed = parseClientKey(pem, createPrivateKey);
    if ('problem' in parsed) throw new Error(parsed.problem);
    const { key } = parsed;
    const algorithm =
      key.asymmetricKeyType === 'ec' ? { name: 'ECDSA', namedCurve: 'P-256' } : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const der = key.export({ format: 'der', type: 'pkcs8' });
    return await crypto.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, false, ['sign']);
  } catch (cause) {
    throw new ProviderRefused('clientSecret is not a private key that can be used (PKCS #8, RSA or P-256).', { cause });
  }
}

export class ClientAuthentication {
  readonly #inTurn: FairScheduler;
  readonly #now: () => number;

  /**
   * @param inTurn runs one signature at a time. Tenants take turns, so a costly key delays another tenant by at most one signature
   * @param now returns a monotonic time in ms
   */
  constructor(inTurn: FairScheduler, now: () => number) {
    this.#inTurn = inTurn;
    this.#now = now;
  }

  /** Returns the method by which a client authenticates. @throws ProviderRefused if its key cannot be used */
  async methodOf(library: typeof Library, { clientAuth, clientSecret = '', tid }: OpenIdClient): Promise<Library.ClientAuth> {
    if (clientAuth === 'private_key_jwt') return this.#signWithTurns(tid, library.PrivateKeyJwt(await importKey(clientSecret)));
    if (clientAuth === 'none' || clientSecret === '') return library.None();
    const [post, basic] = [library.ClientSecretPost(clientSecret), library.ClientSecretBasic(clientSecret)];
    // By default, the secret is sent in the body if the provider accepts that. In a Basic header it is percent-encoded (RFC 6749, 2.3.1),
    // and some providers do not decode it.
    return (server, ...rest) => {
      const acceptsPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ?? false;
      const usesPost = clientAuth === undefined ? acceptsPost : clientAuth === 'client_secret_post';
      return (usesPost ? post : basic)(server, ...rest);
    };
  }

  /** Returns a method that signs when it is the tenant's turn. The method throws ProviderUnavailable if it has waited too long. */
  #signWithTurns(tid: number, sign: Library.ClientAuth): Library.ClientAuth {
    return async (...request) => {
      const start = this.#now();
      await this.#inTurn(`${tid}`, async () => {
        if (this.#now() - start > maxWait) throw new ProviderUnavailable('Too many requests wait to be signed with private keys.');
        await sign(...request);
      });
    };
  }
}
