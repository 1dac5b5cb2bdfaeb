import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';

/** A user as a directory describes them. */
export interface DirectoryUser {
  readonly dn: string;
  /** Identifies the user: UUID or GUID of the entry, which a rename does not change; if it has neither, its DN in lower case. */
  readonly subject: string;
  /** Value of the user name attribute; empty: none. */
  readonly username: string;
  /** Display name. */
  readonly name: string;
  /** Value of the address attribute; empty: none. */
  readonly email: string;
  /** DN and name of each group. */
  readonly groups: readonly string[];
}

/** A directory, and the tenant whose configuration names it. What the directories send is processed in turns by tenant. */
export interface TenantDirectory extends LdapConfiguration {
  readonly tid: number;
}

/**
 * Queries directories (LDAP, RFC 4511). Each method ends within five seconds, and sends a password unencrypted only to a directory on this
 * machine. A disabled user, or a name that matches two entries, counts as unknown.
 */
export interface Directories extends AsyncDisposable {
  /** Finds a user with the account of the configuration. @returns null if there is none @throws DirectoryUnavailable, DirectoryRefused */
  find(directory: TenantDirectory, username: string): Promise<DirectoryUser | null>;
  /**
   * Verifies the password of a user.
   * @param dn null: an unknown user. The directory gets a request for them too, so that response times do not show who exists
   * @throws DirectoryUnavailable
   */
  verify(directory: TenantDirectory, dn: string | null, password: string): Promise<boolean>;
  /** Signs a user in with the name that `bindPattern` gives. @returns null for a wrong name or password @throws as `find` */
  signInByPattern(directory: TenantDirectory, username: string, password: string): Promise<DirectoryUser | null>;
}

/** The directory cannot be used now: it cannot be reached, does not respond in time, is busy, or violates the protocol. */
export class DirectoryUnavailable extends Error {}

/** The directory refuses the account or a search. Or a filter or the user's list of groups is too long. The message is for the operator. */
export class DirectoryRefused extends Error {}
