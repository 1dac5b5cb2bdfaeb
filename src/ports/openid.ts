import type { OidcConfiguration } from '#core/records/profile-configuration.ts';

/** How to reach a provider, and as which client. */
export interface OpenIdClient extends Pick<OidcConfiguration, 'issuer' | 'clientId' | 'clientAuth' | 'clientSecret'> {
  /** Tenant of the client. Costly work for the client or its provider waits for a turn of this tenant. */
  readonly tid: number;
}

/** The secrets of a sign-in that has begun. They belong to the browser that began it. */
export interface PendingOpenId {
  readonly state: string;
  readonly nonce: string;
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string;
}

/** What a provider says about a user. The signature and the audience of the ID token are verified. */
export interface OpenIdStatement {
  /** Claims of the ID token; null: none was sent, which is allowed when a sign-in is refreshed (OpenID Connect Core, 12.2). */
  readonly idToken: Readonly<Record<string, unknown>> | null;
  /** Claims of the userinfo endpoint; empty if it was not queried. */
  readonly userinfo: Readonly<Record<string, unknown>>;
  /** null: the provider issues none. */
  readonly refreshToken: string | null;
}

/** What the caller needs in addition to the ID token. */
export interface StatementNeeds {
  needsUserinfo(idToken: NonNullable<OpenIdStatement['idToken']>): boolean;
}

/** The result of one step of a test. The steps end with the first one that fails. */
export interface ProviderTest {
  readonly step: 'metadata' | 'keys' | 'client';
  readonly passed: boolean;
  /** What the provider answered, without secrets. */
  readonly detail: string;
}

/** A signed-in user whose claims are requested again. */
export interface UserToRefresh {
  readonly refreshToken: string;
  /** `sub` of the user. A statement about another user is refused. */
  readonly subject: string;
  /** Stores a new refresh token before any further request: the provider may no longer accept the old one. */
  storeToken(refreshToken: string): Promise<void>;
}

/**
 * Signs users in at OpenID providers (OpenID Connect Core 1.0). All requests of one call together end within five seconds. In `test`, each
 * request has this time; in `verifySignOut`, the request for the keys has another five seconds.
 */
export interface OpenId {
  /** Returns the address to which the browser is sent. @throws ProviderUnavailable, ProviderRefused */
  begin(
    client: OpenIdClient,
    request: { readonly redirectUrl: string; readonly scopes: string; readonly prompt?: string },
  ): Promise<{ readonly url: string; readonly pending: PendingOpenId }>;
  /**
   * Exchanges the code with which the browser has come back.
   * @param returned the redirect URI with the query of the browser
   * @throws ProviderUnavailable; ResponseRefused; ProviderRefused, also if the response of the provider is not valid
   */
  finish(client: OpenIdClient, returned: URL, pending: PendingOpenId, needs: StatementNeeds): Promise<OpenIdStatement>;
  /**
   * Asks the provider again about a user who has signed in.
   * @throws ProviderUnavailable; ProviderRefused if it no longer admits the user, or if its response is not valid; what `storeToken` throws
   */
  refresh(client: OpenIdClient, user: UserToRefresh, needs: StatementNeeds): Promise<OpenIdStatement>;
  /**
   * Returns the address for signing out at the provider; null: it has none.
   * @param backTo address to which the browser then comes back
   * @throws ProviderUnavailable, ProviderRefused
   */
  signOutUrl(client: OpenIdClient, backTo: string): Promise<string | null>;
  /** Tries the settings of a client as far as is possible without a user. */
  test(client: OpenIdClient, redirectUrl: string): Promise<readonly ProviderTest[]>;
  /** Verifies a logout token. @throws ProviderUnavailable; ProviderRefused if the token is not valid */
  verifySignOut(client: OpenIdClient, logoutToken: string): Promise<SignOutStatement>;
}

/**
 * The statement of a provider that a user has signed out (OpenID Connect Back-Channel Logout 1.0). At least one of `sub` and `sid` is not
 * empty.
 */
export interface SignOutStatement {
  /** `sub` of the user; empty: not stated. */
  readonly sub: string;
  /** `sid` of the session; empty: all sessions of the user. */
  readonly sid: string;
  readonly issuer: string;
}
