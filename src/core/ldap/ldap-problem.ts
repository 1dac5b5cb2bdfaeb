import { isLoopbackHost } from '#core/loopback.ts';
import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';
import { isFilter } from './ldap-text.ts';

/** Returns what is wrong with the address of a directory, or null. */
function urlProblem({ url: address, startTls }: LdapConfiguration): string | null {
  const url = URL.parse(address);
  if (url === null || url.hostname === '') return 'url must be an address such as ldaps://directory.example.com';
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    return 'url must be an address without a path, a query, a fragment, a user name or a password';
  if (url.protocol === 'ldaps:')
    return startTls === true ? 'startTls is for ldap:// addresses: ldaps:// is encrypted from the first byte' : null;
  if (startTls === true || isLoopbackHost(url.hostname)) return null;
  return 'url must begin with ldaps://, or startTls must be true: passwords must not be sent unencrypted';
}

/** Returns what is wrong with the way in which users are found, or null. */
function userProblem({ bindDn, bindPassword, userFilter, bindPattern }: LdapConfiguration): string | null {
  if (userFilter !== undefined && !(isFilter(userFilter) && userFilter.includes('{username}')))
    return 'userFilter must be a filter with {username}, such as (uid={username})';
  if (bindPattern !== undefined) {
    if (bindDn !== undefined || bindPassword !== undefined) return 'bindDn and bindPassword must not be given with bindPattern';
    return bindPattern.includes('{username}') ? null : 'bindPattern must contain {username}';
  }
  if (bindDn === undefined || bindPassword === undefined) return 'bindDn and bindPassword are required, unless there is a bindPattern';
  return userFilter === undefined ? 'userFilter is required, unless there is a bindPattern' : null;
}

/** Returns what is wrong with the way in which groups are found, or null. */
function groupProblem({ groupsFrom, groupFilter }: LdapConfiguration): string | null {
  if (groupsFrom !== 'search') return groupFilter === undefined ? null : 'groupFilter needs groupsFrom "search"';
  if (groupFilter !== undefined && isFilter(groupFilter) && /\{(dn|username)\}/.test(groupFilter)) return null;
  return 'groupFilter must be a filter with {dn} or {username}, such as (member={dn})';
}

/** Returns what is wrong with the configuration of an LDAP profile that its schema accepts, or null. */
export const ldapProblem = (configuration: LdapConfiguration): string | null =>
  urlProblem(configuration) ?? userProblem(configuration) ?? groupProblem(configuration);
