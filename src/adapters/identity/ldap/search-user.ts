import type { Client } from 'ldapts';
import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';
import type { DirectoryUser } from '#ports/directory.ts';
import { defaultUsername, entryId, groupNames, isDisabled, textOf, userAttributes } from './directory-entry.ts';
import { groupsOf } from './directory-groups.ts';
import { searchFilter } from './search-filter.ts';

const maxUsername = 255; // characters

export interface SearchedUser {
  /** As the visitor entered it. */
  readonly username: string;
  /** Name with which the connection is bound; null: it is bound with the account of the configuration. */
  readonly bindName: string | null;
}

/** Returns the base, the scope and the filter of the search for a user. */
function searchOf({ baseDn, userFilter }: LdapConfiguration, { username, bindName }: SearchedUser) {
  if (userFilter !== undefined) return { base: baseDn, scope: 'sub', filter: searchFilter(userFilter, { username }) } as const;
  if (bindName?.includes('=')) return { base: bindName, scope: 'base', filter: '(objectClass=*)' } as const;
  return { base: baseDn, scope: 'sub', filter: searchFilter('(userPrincipalName={name})', { name: bindName ?? '' }) } as const;
}

/**
 * Finds a user. Aliases and referrals are not followed.
 * @param now ms since the epoch
 * @returns null unless the directory has exactly one such user, who is not disabled
 * @throws DirectoryRefused for too many groups, or a filter that is too long; an error of the library
 */
export async function searchUser(
  client: Client,
  configuration: LdapConfiguration,
  user: SearchedUser,
  now: number,
): Promise<DirectoryUser | null> {
  const { username } = user;
  if (username === '' || username.length > maxUsername || username.includes('\0')) return null;
  const { base, scope, filter } = searchOf(configuration, user);
  const options = { scope, filter, derefAliases: 'never', sizeLimit: 2, ...userAttributes(configuration) } as const;
  const { searchEntries } = await client.search(base, options); // with a size limit, the library returns the first entries without an error
  const [entry, second] = searchEntries;
  if (!entry || second || entry.dn === '' || isDisabled(entry, now)) return null;
  const { usernameAttribute, emailAttribute, nameAttribute } = configuration;
  const groups = await groupsOf(client, configuration, entry, username);
  return {
    dn: entry.dn,
    subject: entryId(entry),
    username: usernameAttribute === undefined ? defaultUsername(entry) : textOf(entry, usernameAttribute),
    name: (nameAttribute === undefined ? textOf(entry, 'displayName') || textOf(entry, 'cn') : textOf(entry, nameAttribute)) || username,
    email: textOf(entry, emailAttribute),
    groups: [...new Set(groups.flatMap(groupNames))],
  };
}
