import { createPrivateKey } from 'node:crypto';
import type * as Library from 'openid-client';
import {
  type OpenId,
  type OpenIdClient,
  type OpenIdStatement,
  ProviderRefused,
  ProviderUnavailable,
  type StatementNeeds,
} from '#ports/openid.ts';
import type { Outbound } from '#ports/outbound.ts';
import type * as LogoutTokens from './logout-token.ts';
import { openIdFetch } from './openid-fetch.ts';
import { providerError } from './provider-error.ts';
import { testProvider } from './test-provider.ts';

const requestTimeout = 4000; // ms: a visitor gets an answer within five seconds
const metadataLifetime = 3_600_000; // ms
const maxProviders = 1000; // whose metadata is kept
const awayPause = 3000; // ms during which a provider that did not respond is not asked again

/** Signature algorithms of ID tokens: asymmetric ones, so that nobody who knows the client secret can make a token. */
const algorithms: readonly string[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/** The metadata of a provider with its keys, as the library keeps them. */
interface KnownProvider {
  readonly configuration: Promise<Library.Configuration>;
  readonly until: number;
}

/** @throws ProviderRefused if the key cannot be read */
async function privateKeyOf(pem: string): Promise<CryptoKey> {
  try {
    const key = createPrivateKey(pem);
    const algorithm =
      key.asymmetricKeyType === 'ec' ? { name: 'ECDSA', namedCurve: 'P-256' } : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const der = key.export({ format: 'der', type: 'pkcs8' });
    return await crypto.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, false, ['sign']);
  } catch (cause) {
    throw new ProviderRefused('clientSecret is not a private key that can be used (PKCS #8, RSA or P-256).', { cause });
  }
}

/** Returns an address of the provider to which a browser may be sent. @throws ProviderRefused if it is not encrypted as the issuer is */
function addressForBrowser(url: URL, { issuer }: OpenIdClient): string {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && issuer.startsWith('http:'))) return url.href;
  throw new ProviderRefused(`The metadata of the provider has an address that begins with ${url.protocol}`);
}

/** Signs users in with openid-client. @param now returns a monotonic time in ms */
export class OpenIdProviders implements OpenId {
  readonly #outbound: Pick<Outbound, 'request'>;
  readonly #now: () => number;
  readonly #known = new Map<string, KnownProvider>();
  readonly #keys = new WeakMap<Library.Configuration, ReturnType<typeof LogoutTokens.providerKeys>>();
  readonly #away = new Map<string, { readonly until: number; readonly cause: ProviderUnavailable }>();
  #library: Promise<typeof Library> | undefined;

  constructor(outbound: Pick<Outbound, 'request'>, now: () => number) {
    this.#outbound = outbound;
    this.#now = now;
  }

  async begin(client: OpenIdClient, { redirectUrl, scopes, prompt }: Parameters<OpenId['begin']>[1]) {
    return this.#ask(client, async (library, configuration) => {
      const pending = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        ...(prompt === undefined ? {} : { prompt }),
      });
      return { url: addressForBrowser(url, client), pending };
    });
  }

  async finish(client: OpenIdClient, returned: URL, { state, nonce, verifier }: Parameters<OpenId['finish']>[2], needs: StatementNeeds) {
    return this.#ask(client, async (library, configuration) => {
      const tokens = await library.authorizationCodeGrant(configuration, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return this.#statement(library, configuration, tokens, needs);
    });
  }

  async refresh(client: OpenIdClient, refreshToken: string, subject: string, needs: StatementNeeds) {
    return this.#ask(client, async (library, configuration) => {
      const tokens = await library.refreshTokenGrant(configuration, refreshToken).catch((cause: unknown) => {
        if (cause instanceof library.ResponseBodyError && cause.error === 'invalid_grant') return null;
        throw cause;
      });
      if (!tokens) return null;
      const claims = tokens.claims();
      if (claims !== undefined && claims.sub !== subject) throw new ProviderRefused('The provider states another user than before.');
      const statement = await this.#statement(library, configuration, tokens, needs, subject);
      return { ...statement, refreshToken: statement.refreshToken ?? refreshToken };
    });
  }

  async signOutUrl(client: OpenIdClient, backTo: string) {
    return this.#ask(client, async (library, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return addressForBrowser(library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo }), client);
    });
  }

  async test(client: OpenIdClient, redirectUrl: string) {
    const library = await this.#loadLibrary();
    const fetch = openIdFetch(this.#outbound, requestTimeout);
    return testProvider(library, () => this.#discover(library, client), fetch, redirectUrl); // without the known metadata
  }

  async verifySignOut(client: OpenIdClient, logoutToken: string) {
    return this.#ask(client, async (_library, configuration) => {
      const { providerKeys, verifyLogoutToken }: typeof LogoutTokens = await import('./logout-token.ts');
      const { issuer, jwks_uri: address } = configuration.serverMetadata();
      if (address === undefined) throw new ProviderRefused('The provider publishes no keys.');
      const keys = this.#keys.get(configuration) ?? providerKeys(address, openIdFetch(this.#outbound, requestTimeout));
      this.#keys.set(configuration, keys);
      return verifyLogoutToken(logoutToken, { issuer, clientId: client.clientId, keys, algorithms });
    });
  }

  /** Reads the tokens, and asks the userinfo endpoint for what they lack. @param subject of the user, if there may be no ID token */
  async #statement(
    library: typeof Library,
    configuration: Library.Configuration,
    tokens: Library.TokenEndpointResponse & Library.TokenEndpointResponseHelpers,
    { needsUserinfo }: StatementNeeds,
    subject?: string,
  ): Promise<OpenIdStatement> {
    const claims = tokens.claims();
    const metadata = configuration.serverMetadata();
    const sub = claims?.sub ?? subject ?? '';
    if (sub === '') throw new ProviderRefused('The provider did not send a subject.');
    const idToken: OpenIdStatement['idToken'] = claims ?? { iss: metadata.issuer, sub };
    const asksUserinfo = metadata.userinfo_endpoint !== undefined && needsUserinfo(idToken);
    const userinfo = asksUserinfo ? await library.fetchUserInfo(configuration, tokens.access_token, sub) : {};
    return { idToken, userinfo, refreshToken: tokens.refresh_token ?? null };
  }

  /** Runs a request with the metadata of the provider. @throws ProviderUnavailable, ProviderRefused */
  async #ask<T>(client: OpenIdClient, ask: (library: typeof Library, configuration: Library.Configuration) => Promise<T>): Promise<T> {
    const library = await this.#loadLibrary();
    const away = this.#away.get(client.issuer);
    if (away && away.until > this.#now()) throw away.cause;
    this.#away.delete(client.issuer);
    try {
      return await ask(library, await this.#configurationOf(library, client));
    } catch (cause) {
      const error = providerError(library, cause);
      if (error instanceof ProviderUnavailable) this.#noteAway(client.issuer, error);
      throw error;
    }
  }

  /** Loads the library with the first sign-in: most installations need none. */
  #loadLibrary(): Promise<typeof Library> {
    this.#library ??= import('openid-client');
    return this.#library;
  }

  #noteAway(issuer: string, cause: ProviderUnavailable): void {
    if (this.#away.size >= maxProviders) this.#away.clear();
    this.#away.set(issuer, { until: this.#now() + awayPause, cause });
  }

  /** Returns the metadata of a provider. Sign-ins share one request for it, and a failed one is not kept. */
  #configurationOf(library: typeof Library, client: OpenIdClient): Promise<Library.Configuration> {
    const key = JSON.stringify([client.issuer, client.clientId, client.clientAuth, client.clientSecret]);
    const known = this.#known.get(key);
    if (known && known.until > this.#now()) return known.configuration;
    const configuration = this.#discover(library, client);
    const entry = { configuration, until: this.#now() + metadataLifetime };
    this.#known.delete(key);
    for (const oldest of this.#known.keys()) if (this.#known.size >= maxProviders) this.#known.delete(oldest);
    this.#known.set(key, entry);
    configuration.catch(() => {
      if (this.#known.get(key) === entry) this.#known.delete(key);
    });
    return configuration;
  }

  async #discover(library: typeof Library, { issuer, clientId, clientAuth, clientSecret = '' }: OpenIdClient) {
    const key = clientAuth === 'private_key_jwt' ? await privateKeyOf(clientSecret) : null;
    // In the body if the provider accepts that: in Basic the secret is percent-encoded (RFC 6749, 2.3.1), which some providers do not undo.
    const authenticate: Library.ClientAuth = (server, ...rest) => {
      if (key) return library.PrivateKeyJwt(key)(server, ...rest);
      if (clientAuth === 'none' || clientSecret === '') return library.None()(server, ...rest);
      const acceptsPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ?? false;
      const usesPost = clientAuth === undefined ? acceptsPost : clientAuth === 'client_secret_post';
      return (usesPost ? library.ClientSecretPost(clientSecret) : library.ClientSecretBasic(clientSecret))(server, ...rest);
    };
    // Without the first one, the library trusts TLS alone and does not verify the signatures of ID tokens.
    const execute = [library.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : [])];
    const configuration = await library.discovery(new URL(issuer), clientId, undefined, authenticate, {
      execute,
      [library.customFetch]: openIdFetch(this.#outbound, requestTimeout),
      timeout: requestTimeout / 1000,
    });
    const signing = configuration.serverMetadata()['id_token_signing_alg_values_supported'];
    if (Array.isArray(signing) && !signing.some((algorithm) => algorithms.includes(algorithm)))
      throw new ProviderRefused('The provider signs ID tokens with no algorithm that Postern accepts.');
    return configuration;
  }
}
