import { Refusal } from '#core/messages.ts';
import { type Claims, identityOfClaims, needsUserinfo, subjectOf, usedClaims } from '#core/openid/identity-of-claims.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';
import { providerErrorAsRefusal, throwAsRefusal } from '#features/provider-sign-ins/provider-refusal.ts';
import { overdueTime, readProviderConfiguration, statementLifetime, unlessOutdated } from '#features/visits/sign-in/provider-profile.ts';
import type { OpenIdClient, OpenIdStatement, PendingOpenId } from '#ports/openid.ts';
import type { Ports } from '#ports/ports.ts';
import { ProviderRefused, ProviderUnavailable, ResponseInvalid, ResponseRefused } from '#ports/provider-errors.ts';
import type { CompletedSignIn, ProfileRef, RedirectSignIn, Renewal, SignInKind } from '#ports/sign-in.ts';

type KindPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'openId'>;

const renewalPurpose = 'OIDC refresh token';
const defaultScopes = 'openid email profile';
/** Characters. A longer id of a provider's session is not stored: then a sign-out ends the session only if the provider names the user. */
const maxSessionId = 255;

/** What a session needs to query the provider again. Stored encrypted. */
interface RenewalContent {
  readonly refreshToken: string;
  /** Those claims of the last ID token that the configuration uses. */
  readonly claims: Claims;
  /** When the provider sent that ID token; ms since the epoch. */
  readonly claimsAt: number;
}

const sealRenewal = ({ vault }: Pick<KindPorts, 'vault'>, renewal: RenewalContent) => vault.seal(renewalPurpose, JSON.stringify(renewal));

/** Returns the configuration of a profile, with its tenant. The methods of `OpenId` take the result as the client. */
async function configurationOf(ports: KindPorts, profile: ProfileRef): Promise<OidcConfiguration & OpenIdClient> {
  const configuration: OidcConfiguration = JSON.parse(await readProviderConfiguration(ports, profile, 'OIDC'));
  return { ...configuration, tid: profile.tid };
}

/** Runs a request to the provider. @throws Refusal (401, 503) */
const withRefusals = <T>(request: () => Promise<T>): Promise<T> => request().catch(throwAsRefusal);

const needsOf = (configuration: OidcConfiguration) => ({ needsUserinfo: (claims: Claims) => needsUserinfo(claims, configuration) });

function redirectSignIn(ports: KindPorts, completeSignIn: CompleteSignIn): RedirectSignIn {
  return {
    protocol: 'oidc',
    async begin(profile, redirectUrl) {
      const configuration = await configurationOf(ports, profile);
      const { scopes = defaultScopes, prompt } = configuration;
      const request = { redirectUrl, scopes, ...(prompt === undefined ? {} : { prompt }) };
      const { url, pending } = await withRefusals(() => ports.openId.begin(configuration, request));
      return { url, state: pending.state, pending: JSON.stringify(pending) };
    },
    async finish(profile, { redirectUrl, parameters, onStatement }, pendingText) {
      if (pendingText === null)
        throw new Refusal(
          'requestMalformed',
          'This link does not accept a sign-in that starts at the provider. Open the link and sign in there.',
        );
      const returnUrl = new URL(redirectUrl); // our own origin, whatever the request's Host was
      returnUrl.search = parameters.toString();
      const configuration = await configurationOf(ports, profile);
      const pending: PendingOpenId = JSON.parse(pendingText);
      try {
        const statement = await ports.openId.finish(configuration, returnUrl, pending, needsOf(configuration));
        onStatement?.({ ...statement.userinfo, ...statement.idToken });
        return completeSignIn(profile, configuration, statement);
      } catch (cause) {
        const refusal = providerErrorAsRefusal(cause);
        if (cause instanceof ResponseRefused && refusal instanceof Refusal) return refusal;
        throw refusal;
      }
    },
    signOut: {
      async url(profile, pageUrl) {
        return ports.openId.signOutUrl(await configurationOf(ports, profile), pageUrl);
      },
      async verify(profile, statement) {
        const configuration = await configurationOf(ports, profile);
        const { sub, sid, issuer } = await ports.openId.verifySignOut(configuration, statement).catch((cause: unknown) => {
          throw cause instanceof ProviderRefused
            ? new Refusal('requestMalformed', 'The logout token is not valid.')
            : providerErrorAsRefusal(cause);
        });
        return { subject: sub === '' ? '' : subjectOf(issuer, sub), providerSession: sid };
      },
    },
  };
}

/** Returns the sign-in that a statement of the provider completes. @param earlier the last ID token, if the statement may lack one */
type CompleteSignIn = (
  profile: ProfileRef,
  configuration: OidcConfiguration,
  statement: OpenIdStatement,
  earlier?: Pick<RenewalContent, 'claims' | 'claimsAt'>,
) => CompletedSignIn;

function renewalOf(ports: KindPorts, completeSignIn: CompleteSignIn): Renewal {
  async function renew(...[profile, { renewal = '', identity }, storeRenewal]: Parameters<Renewal['renew']>): Promise<CompletedSignIn> {
    const configuration = await configurationOf(ports, profile);
    const previous: RenewalContent = JSON.parse(ports.vault.open(renewalPurpose, renewal));
    const storeToken = (refreshToken: string) => storeRenewal(sealRenewal(ports, { ...previous, refreshToken }));
    const user = { refreshToken: previous.refreshToken, subject: String(previous.claims['sub']), storeToken };
    const statement = await ports.openId.refresh(configuration, user, needsOf(configuration)).catch((cause: unknown) => {
      // The response may come from a proxy in front of the provider, which is no reason to end sessions.
      throw cause instanceof ResponseInvalid ? new ProviderUnavailable(cause.message, { cause }) : cause;
    });
    const isOutdated = statement.idToken === null && Math.abs(ports.clock.now() - previous.claimsAt) >= statementLifetime;
    if (isOutdated) throw new ProviderRefused('The provider has sent no new ID token for an hour.');
    const signIn = completeSignIn(profile, configuration, statement, previous);
    if (signIn.identity.subject !== identity.subject) throw new ProviderRefused('The provider names a different user than before.');
    return signIn;
  }
  return {
    overdueTime: (signIn) => overdueTime(signIn, ports.clock.now()),
    renew: (...parameters) => withRefusals(() => renew(...parameters)),
  };
}

/** OIDC: sign-in at an OpenID provider. */
export function oidcKind(ports: KindPorts): SignInKind {
  const completeSignIn: CompleteSignIn = (profile, configuration, { idToken, userinfo, refreshToken }, earlier) => {
    const now = ports.clock.now();
    const claims = idToken ?? earlier?.claims ?? {};
    const identity = identityOfClaims(claims, idToken ? [claims, userinfo] : [userinfo, claims], configuration);
    const claimsAt = idToken ? now : (earlier?.claimsAt ?? now);
    const renewal = refreshToken === null ? null : { refreshToken, claims: usedClaims(claims, configuration), claimsAt };
    return {
      ...{ identity, claimsAt: now, profileEpoch: profile.session_epoch, user: null },
      providerSession: typeof claims['sid'] === 'string' && claims['sid'].length <= maxSessionId ? claims['sid'] : '',
      ...(renewal && { renewal: sealRenewal(ports, renewal) }),
    };
  };
  return {
    redirect: redirectSignIn(ports, completeSignIn),
    reauthenticate: async (_profile, signIn) => unlessOutdated(signIn, ports.clock.now()),
    renewal: renewalOf(ports, completeSignIn),
  };
}
