import { Refusal } from '#core/messages.ts';
import { type ClaimedIdentity, ClaimsRefused, identityOfClaims, needsUserinfo, subjectOf } from '#core/openid/identity-of-claims.ts';
import { profileSealPurposes, profileTypes } from '#core/records/login-profile.ts';
import type { OidcConfiguration } from '#core/records/profile-configuration.ts';
import { type OpenIdStatement, type PendingOpenId, ProviderRefused, ProviderUnavailable } from '#ports/openid.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, ProfileRef, SignInKind } from '#ports/sign-in.ts';

type KindPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'openId'>;

const renewalPurpose = 'OIDC refresh token';
const defaultScopes = 'openid email profile';
/** Time in ms after which a provider that has issued a refresh token is asked again about a visitor. */
const checkInterval = 10 * 60_000;
/** Time in ms after which a sign-in ends whose provider cannot be asked. */
const maxUncheckedTime = 60 * 60_000;

/** The configuration of a profile, and its session epoch at the same time. */
interface ReadProfile {
  readonly configuration: OidcConfiguration;
  readonly epoch: number;
}

/** @throws Refusal (503) if the profile has changed its type, or its secrets were lost */
async function readProfile({ store, vault }: KindPorts, { tid, profile_id }: ProfileRef): Promise<ReadProfile> {
  const row = await store.read
    .selectFrom('login_profile')
    .select(['configuration', 'session_epoch'])
    .where('tid', '=', tid)
    .where('id', '=', profile_id)
    .where('type_id', '=', profileTypes.OIDC)
    .executeTakeFirst();
  if (!row?.configuration) throw new Refusal('signInUnavailable', 'The login profile has no configuration.');
  return { configuration: JSON.parse(vault.open(profileSealPurposes.configuration, row.configuration)), epoch: row.session_epoch };
}

/** Returns the refusal for an error of the provider. */
function asRefusal(cause: unknown): unknown {
  if (cause instanceof ProviderUnavailable) return new Refusal('providerAway', undefined, { forOperator: cause.message });
  if (cause instanceof ProviderRefused || cause instanceof ClaimsRefused)
    return new Refusal('providerRefused', undefined, { forOperator: cause.message });
  return cause;
}

/** Runs a request to the provider. @throws Refusal (401, 503) */
const ask = <T>(request: () => Promise<T>): Promise<T> =>
  request().catch((cause: unknown) => {
    throw asRefusal(cause);
  });

/** OIDC: sign-in at an OpenID provider. */
export const oidcKind = (ports: KindPorts): SignInKind => {
  const needsOf = (configuration: OidcConfiguration) => ({
    needsUserinfo: (claims: OpenIdStatement['idToken']) => needsUserinfo(claims, configuration),
  });

  function completed({ configuration, epoch }: ReadProfile, { idToken, userinfo, refreshToken }: OpenIdStatement): CompletedSignIn {
    const identity: ClaimedIdentity = identityOfClaims(idToken, userinfo, configuration);
    const renewal =
      refreshToken === null ? {} : { renewal: ports.vault.seal(renewalPurpose, JSON.stringify([idToken['sub'], refreshToken])) };
    const providerSession = typeof idToken['sid'] === 'string' ? idToken['sid'] : '';
    return { identity, claimsAt: ports.clock.now(), profileEpoch: epoch, user: null, providerSession, ...renewal };
  }

  const ageOf = ({ claimsAt }: CompletedSignIn) => Math.abs(ports.clock.now() - claimsAt);

  /** Asks the provider again. @returns null if it no longer admits the visitor */
  async function renew(profile: ProfileRef, renewal: string): Promise<CompletedSignIn | null> {
    const read = await readProfile(ports, profile);
    const [subject, refreshToken]: [string, string] = JSON.parse(ports.vault.open(renewalPurpose, renewal));
    const statement = await ports.openId.refresh(read.configuration, refreshToken, subject, needsOf(read.configuration));
    try {
      return statement && completed(read, statement);
    } catch (cause) {
      if (cause instanceof ClaimsRefused) return null; // for example, the visitor has left the required group
      throw cause;
    }
  }

  return {
    redirect: {
      async begin(profile, redirectUrl) {
        const { configuration } = await readProfile(ports, profile);
        const { scopes = defaultScopes, prompt } = configuration;
        const request = { redirectUrl, scopes, ...(prompt === undefined ? {} : { prompt }) };
        const { url, pending } = await ask(() => ports.openId.begin(configuration, request));
        return { url, state: pending.state, pending: JSON.stringify(pending) };
      },
      async finish(profile, returned, pendingText) {
        const read = await readProfile(ports, profile);
        const pending: PendingOpenId = JSON.parse(pendingText);
        return ask(async () =>
          completed(read, await ports.openId.finish(read.configuration, returned, pending, needsOf(read.configuration))),
        );
      },
      async signOutUrl(profile, pageUrl) {
        const { configuration } = await readProfile(ports, profile);
        return ports.openId.signOutUrl(configuration, pageUrl).catch(() => null); // the visitor has signed out here all the same
      },
      async verifySignOut(profile, statement) {
        const { configuration } = await readProfile(ports, profile);
        const { sub, sid, issuer } = await ports.openId.verifySignOut(configuration, statement).catch((cause: unknown) => {
          throw cause instanceof ProviderRefused ? new Refusal('requestMalformed', 'The logout token is not valid.') : asRefusal(cause);
        });
        return { subject: sub === '' ? '' : subjectOf(issuer, sub), providerSession: sid };
      },
    },
    // A session that cannot be renewed ends after an hour; the other ones when the provider no longer admits the visitor.
    reauthenticate: async (_profile, signIn) => (signIn.renewal !== undefined || ageOf(signIn) < maxUncheckedTime ? signIn : null),
    renewal: {
      isDue: (signIn) => signIn.renewal !== undefined && ageOf(signIn) >= checkInterval,
      renew: (profile, { renewal, identity }) =>
        ask(async () => {
          const renewed = renewal === undefined ? null : await renew(profile, renewal);
          return renewed?.identity.subject === identity.subject ? renewed : null;
        }),
    },
  };
};
