import { networksOf } from '#core/client-networks.ts';
import { fold } from '#core/fold.ts';
import { looseName } from '#core/ldap/loose-name.ts';
import { statedEmail } from '#core/mail/email.ts';
import { Refusal } from '#core/messages.ts';
import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';
import { requiredGroupProblem } from '#core/required-group.ts';
import { type TurnGroups, turnsByKey } from '#features/turns/turns.ts';
import { overdueTime, readProviderConfiguration, unlessOutdated } from '#features/visits/sign-in/provider-profile.ts';
import { DirectoryRefused, DirectoryUnavailable, type DirectoryUser, type TenantDirectory } from '#ports/directory.ts';
import type { Ports } from '#ports/ports.ts';
import type { CompletedSignIn, Identity, PasswordCredentials, ProfileRef, SignInKind } from '#ports/sign-in.ts';
import { withinBindLimit } from './bind-limit.ts';

type KindPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'directories'>;

const renewalPurpose = 'LDAP user name';
const concurrency = { profile: 8, tenant: 24 }; // sign-ins and renewals of one profile, and of a tenant: each may need some MiB
const maxWaiting = { inner: 50, all: 300 };
const retryAfter = 2; // seconds
const refusal = () => new Refusal('signInBusy', undefined, { retryAfter });
/** The group of all renewals. It takes turns with the groups of visitors who sign in, one group for each network. */
const renewalGroups = ['renewals', 'renewals'] as const;

/** Runs a request to the directory. @throws Refusal (503) */
const withRefusals = <T>(request: () => Promise<T>): Promise<T> =>
  request().catch((cause: unknown) => {
    // Visitors can do nothing about `DirectoryRefused`, such as a refused bind account: they see an unavailable directory.
    if (cause instanceof DirectoryUnavailable || cause instanceof DirectoryRefused)
      throw new Refusal('providerAway', undefined, { forOperator: cause.message });
    throw cause;
  });

function identityOf({ subject, username, name, email, groups }: DirectoryUser): Identity {
  const address = statedEmail(email);
  return { subject, name, email: address, names: [...new Set([username, address].filter((one) => one !== ''))], groups };
}

/** LDAP: sign-in with the password of a directory. */
export class LdapSignIn {
  readonly #ports: KindPorts;
  /** Turns for each profile, so that a slow directory delays only the requests of its own profile. */
  readonly #withProfileTurns = turnsByKey({ concurrency: concurrency.profile, maxWaiting, refusal });
  readonly #withTenantTurns = turnsByKey({ concurrency: concurrency.tenant, maxWaiting, refusal });

  constructor(ports: KindPorts) {
    this.#ports = ports;
  }

  /** Runs a request to the directory of a profile in its turn. @throws Refusal (503) if too many requests wait */
  inTurn<T>({ tid, profile_id }: ProfileRef, groups: TurnGroups, request: () => Promise<T>): Promise<T> {
    const inTenantTurn = () => this.#withTenantTurns(`${tid}`, ({ run }) => run([`profile ${profile_id}`], null, request));
    return this.#withProfileTurns(`${profile_id}`, ({ run }) => run(groups, null, inTenantTurn));
  }

  /**
   * Verifies a password.
   * @returns null if the name or the password is wrong
   * @throws Refusal (400) if the profile has changed; (403) if the user is not in the required group; (429) as `withinBindLimit`; (503)
   */
  async verify(profile: ProfileRef, { username, password }: PasswordCredentials, address: string): Promise<CompletedSignIn | null> {
    const directory = await this.#directoryOf(profile);
    const user =
      directory.bindPattern === undefined
        ? await this.#searchThenBind(profile, directory, { username, password }, address)
        : await this.#bindByPattern(profile, directory, { username, password }, address);
    if (!user) return null;
    const problem = requiredGroupProblem(user.groups, directory.requireGroup);
    if (problem !== null) throw new Refusal('notAdmitted', undefined, { forOperator: problem });
    return this.#completeSignIn(profile, directory, user, username);
  }

  /** Queries the directory again about a visitor. @throws Refusal (401, 503); (400) if the profile has changed */
  async renew(profile: ProfileRef, { renewal = '', identity }: CompletedSignIn): Promise<CompletedSignIn> {
    const directory = await this.#directoryOf(profile);
    const username = this.#ports.vault.open(renewalPurpose, renewal);
    const find = () => withRefusals(() => this.#ports.directories.find(directory, username));
    const user = await this.inTurn(profile, renewalGroups, find);
    if (!user || user.subject !== identity.subject)
      throw new Refusal('providerRefused', undefined, {
        forOperator: 'The directory no longer has this user, or has disabled the account.',
      });
    const problem = requiredGroupProblem(user.groups, directory.requireGroup);
    if (problem !== null) throw new Refusal('providerRefused', undefined, { forOperator: problem });
    return this.#completeSignIn(profile, directory, user, username);
  }

  async #directoryOf(profile: ProfileRef): Promise<TenantDirectory> {
    const configuration: LdapConfiguration = JSON.parse(await readProviderConfiguration(this.#ports, profile, 'LDAP'));
    return { ...configuration, tid: profile.tid };
  }

  async #searchThenBind(
    profile: ProfileRef,
    directory: TenantDirectory,
    { username, password }: PasswordCredentials,
    address: string,
  ): Promise<DirectoryUser | null> {
    const { directories } = this.#ports;
    const user = await withRefusals(() => directories.find(directory, username));
    const bind = { profile, subject: user?.subject ?? fold(username), address };
    const verify = () => withRefusals(() => directories.verify(directory, user?.dn ?? null, password));
    return (await withinBindLimit(this.#ports, bind, verify)) ? user : null;
  }

  async #bindByPattern(
    profile: ProfileRef,
    directory: TenantDirectory,
    { username, password }: PasswordCredentials,
    address: string,
  ): Promise<DirectoryUser | null> {
    let user: DirectoryUser | null = null;
    const verify = async () => {
      user = await withRefusals(() => this.#ports.directories.signInByPattern(directory, username, password));
      return user !== null;
    };
    // Counts under a loose name: the directory may accept other spellings, and the entry is not known before the password is sent.
    await withinBindLimit(this.#ports, { profile, subject: fold(username), sharedName: looseName(username), address }, verify);
    return user;
  }

  #completeSignIn(profile: ProfileRef, { bindPattern }: TenantDirectory, user: DirectoryUser, username: string): CompletedSignIn {
    return {
      ...{ identity: identityOf(user), claimsAt: this.#ports.clock.now(), profileEpoch: profile.session_epoch, user: null },
      // Without an account that searches, the sign-in cannot be renewed.
      ...(bindPattern === undefined ? { renewal: this.#ports.vault.seal(renewalPurpose, username) } : {}),
    };
  }
}

/** Returns the kind of sign-in with the password of a directory. */
export function ldapKind(ports: KindPorts): SignInKind {
  const ldapSignIn = new LdapSignIn(ports);
  return {
    password: {
      requiresUsername: () => true,
      attemptName: looseName,
      verify: (profile, credentials, { address, countAttempt }) =>
        ldapSignIn.inTurn(profile, networksOf(address), () => countAttempt(() => ldapSignIn.verify(profile, credentials, address))),
    },
    reauthenticate: async (_profile, signIn) => unlessOutdated(signIn, ports.clock.now()),
    renewal: {
      overdueTime: (signIn) => overdueTime(signIn, ports.clock.now()),
      renew: (profile, signIn) => ldapSignIn.renew(profile, signIn),
    },
  };
}
