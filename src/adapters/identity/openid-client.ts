import { hash } from 'node:crypto';
import type * as Library from 'openid-client';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import type { OpenId, OpenIdClient, OpenIdStatement, PendingOpenId, StatementNeeds } from '#ports/openid.ts';
import type { Outbound } from '#ports/outbound.ts';
import { ProviderRefused } from '#ports/provider-errors.ts';
import type { Random } from '#ports/random.ts';
import { ClientAuthentication } from './client-authentication.ts';
import type * as LogoutTokens from './logout-token.ts';
import { openIdFetch } from './openid-fetch.ts';
import { configurationFor, discover, ProviderCache, type ProviderMetadata, signatureAlgorithms } from './provider-cache.ts';
import { TokenStoreError } from './provider-error.ts';
import { testProvider } from './test-provider.ts';

/**
 * ms for all requests of one call, such as `begin` or `finish`: a visitor gets an answer within five seconds. In `test`, and when
 * `verifySignOut` reads keys, each request has this limit.
 */
const timeLimit = 4500;

const secretBits = 256; // as in the library, and at least what RFC 7636, 4.1 demands of a verifier

/**
 * Returns an address of the provider to which a browser may be sent.
 * @throws ProviderRefused if it does not use https; http is allowed if the issuer uses http
 */
function addressForBrowser(url: URL, { issuer }: OpenIdClient): string {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && issuer.startsWith('http:'))) return url.href;
  throw new ProviderRefused(`The metadata of the provider has an address that begins with ${url.protocol}`);
}

/** Reads the tokens, and queries the userinfo endpoint for the claims that they lack. @param sub subject of the user */
async function statementOf(
  library: typeof Library,
  configuration: Library.Configuration,
  tokens: Library.TokenEndpointResponse & Library.TokenEndpointResponseHelpers,
  sub: string,
  { needsUserinfo }: StatementNeeds,
): Promise<OpenIdStatement> {
  const idToken = tokens.claims() ?? null;
  const requestsUserinfo = configuration.serverMetadata().userinfo_endpoint !== undefined && needsUserinfo(idToken ?? {});
  const userinfo = requestsUserinfo ? await library.fetchUserInfo(configuration, tokens.access_token, sub) : {};
  return { idToken, userinfo, refreshToken: tokens.refresh_token ?? null };
}

/** Signs users in with openid-client. @param now returns a monotonic time in ms */
export class OpenIdProviders implements OpenId {
  readonly #outbound: Pick<Outbound, 'request'>;
  readonly #random: Pick<Random, 'token'>;
  readonly #providers: ProviderCache;
  readonly #authentication: ClientAuthentication;
  readonly #parseTurns: FairScheduler = fairScheduler(1);
  readonly #logoutKeys = new WeakMap<ProviderMetadata, ReturnType<typeof LogoutTokens.providerKeys>>();
  #library: Promise<typeof Library> | undefined;

  constructor(outbound: Pick<Outbound, 'request'>, random: Pick<Random, 'token'>, now: () => number) {
    this.#outbound = outbound;
    this.#random = random;
    this.#providers = new ProviderCache(now);
    this.#authentication = new ClientAuthentication(fairScheduler(1), now);
  }

  async begin(client: OpenIdClient, { redirectUrl, scopes, prompt }: Parameters<OpenId['begin']>[1]) {
    return this.#withProvider(client, async (library, provider, fetch) => {
      const pending = this.#signInSecrets();
      provider.urlBuilder ??= configurationFor(library, client, provider, fetch);
      const url = library.buildAuthorizationUrl(provider.urlBuilder, {
        redirect_uri: redirectUrl,
        scope: scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: hash('sha256', pending.verifier, 'base64url'), // RFC 7636, 4.2
        code_challenge_method: 'S256',
        ...(prompt === undefined ? {} : { prompt }),
      });
      return { url: addressForBrowser(url, client), pending };
    });
  }

  async finish(client: OpenIdClient, returnUrl: URL, { state, nonce, verifier }: Parameters<OpenId['finish']>[2], needs: StatementNeeds) {
    return this.#request(client, async (library, configuration) => {
      const tokens = await library.authorizationCodeGrant(configuration, returnUrl, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const { sub = '' } = tokens.claims() ?? {};
      if (sub === '') throw new ProviderRefused('The provider did not send a subject.');
      return statementOf(library, configuration, tokens, sub, needs);
    });
  }

  async refresh(client: OpenIdClient, { refreshToken, subject, storeToken }: Parameters<OpenId['refresh']>[1], needs: StatementNeeds) {
    return this.#request(client, async (library, configuration) => {
      const tokens = await library.refreshTokenGrant(configuration, refreshToken);
      const { refresh_token: current = refreshToken } = tokens;
      if (current !== refreshToken)
        await storeToken(current).catch((cause: unknown) => {
          throw new TokenStoreError('the refresh token could not be stored', { cause });
        });
      if ((tokens.claims()?.sub ?? subject) !== subject)
        throw new ProviderRefused('The provider returned a different user than at sign-in.');
      return { ...(await statementOf(library, configuration, tokens, subject, needs)), refreshToken: current };
    });
  }

  async signOutUrl(client: OpenIdClient, backTo: string) {
    return this.#request(client, async (library, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return addressForBrowser(library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo }), client);
    });
  }

  async test(client: OpenIdClient, redirectUrl: string) {
    const library = await this.#loadLibrary();
    const fetch = this.#fetchFor(client, () => AbortSignal.timeout(timeLimit));
    const readAgain = async () => configurationFor(library, client, await discover(library, client, this.#authentication, fetch), fetch);
    return testProvider(library, readAgain, fetch, redirectUrl);
  }

  async verifySignOut(client: OpenIdClient, logoutToken: string) {
    return this.#request(client, async (_library, _configuration, provider) => {
      const { providerKeys, verifyLogoutToken }: typeof LogoutTokens = await import('./logout-token.ts');
      const { issuer, jwks_uri: address } = provider.metadata;
      if (address === undefined) throw new ProviderRefused('The provider publishes no keys.');
      const newKeys = () =>
        providerKeys(
          address,
          this.#fetchFor(client, () => AbortSignal.timeout(timeLimit)),
        );
      const keys = this.#logoutKeys.get(provider) ?? newKeys();
      this.#logoutKeys.set(provider, keys);
      return verifyLogoutToken(logoutToken, { issuer, clientId: client.clientId, keys, algorithms: signatureAlgorithms });
    });
  }

  #signInSecrets(): PendingOpenId {
    const secret = () => this.#random.token(secretBits);
    return { state: secret(), nonce: secret(), verifier: secret() };
  }

  /** Runs requests to a provider. All requests of `configuration` share one deadline. @throws ProviderUnavailable, ProviderRefused */
  #request<T>(
    client: OpenIdClient,
    request: (library: typeof Library, configuration: Library.Configuration, provider: ProviderMetadata) => Promise<T>,
  ): Promise<T> {
    return this.#withProvider(client, async (library, provider, fetch) => {
      const configuration = configurationFor(library, client, provider, fetch);
      try {
        return await request(library, configuration, provider);
      } finally {
        const keys = library.getJwksCache(configuration);
        if (keys) provider.keys = keys;
      }
    });
  }

  /**
   * Runs work with the metadata of a provider.
   * @param work gets a function that sends requests; they share one deadline, which begins with the first request
   */
  async #withProvider<T>(
    client: OpenIdClient,
    work: (library: typeof Library, provider: ProviderMetadata, fetch: Library.CustomFetch) => Promise<T>,
  ): Promise<T> {
    const library = await this.#loadLibrary();
    let deadline: AbortSignal | undefined;
    const fetch = this.#fetchFor(client, () => {
      deadline ??= AbortSignal.timeout(timeLimit);
      return deadline;
    });
    return this.#providers.request(
      library,
      client,
      () => discover(library, client, this.#authentication, fetch),
      (provider) => work(library, provider, fetch),
    );
  }

  #fetchFor({ tid }: OpenIdClient, deadlineOf: () => AbortSignal): Library.CustomFetch {
    return openIdFetch(this.#outbound, tid, deadlineOf, this.#parseTurns);
  }

  /** Loads the library when it is first needed: most installations have no OpenID provider. */
  #loadLibrary(): Promise<typeof Library> {
    this.#library ??= import('openid-client');
    return this.#library;
  }
}
