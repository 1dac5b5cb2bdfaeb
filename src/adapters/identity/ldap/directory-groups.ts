import type { Client, Entry, SearchOptions } from 'ldapts';
import { groupsProblem, tooManyGroupsText } from '#core/group-limits.ts';
import type { LdapConfiguration } from '#core/records/ldap-configuration.ts';
import { DirectoryRefused } from '#ports/directory.ts';
import { textOf, textsOf } from './directory-entry.ts';
import { searchFilter } from './search-filter.ts';

const maxDepth = 10; // levels of groups, including the user's direct groups
/** With this matching rule, Active Directory itself follows nested groups. */
const inChain = '1.2.840.113556.1.4.1941';

/** @throws DirectoryRefused if there are too many groups, or their names are too long together */
function checkGroups(groups: readonly string[]): void {
  const problem = groupsProblem(groups);
  if (problem !== null) throw new DirectoryRefused(problem);
}

/**
 * Searches for groups. The request has no size limit: if it had one, the library would return a part of the groups
 * without an error. Other limits bound the bytes and messages of the response.
 * @throws DirectoryRefused for too many groups; an error of the library, such as SizeLimitExceededError for an incomplete response
 */
async function searchGroups(client: Client, { baseDn }: LdapConfiguration, filter: string): Promise<readonly string[]> {
  const { searchEntries } = await client.search(baseDn, { scope: 'sub', filter, attributes: ['1.1'], derefAliases: 'never' });
  const groups = searchEntries.map(({ dn }) => dn);
  checkGroups(groups);
  return groups;
}

/**
 * Returns the groups in the attribute `memberOf`.
 * @throws DirectoryRefused if Active Directory returns only a part of them, as it does for more than 1,500: the part is in an attribute
 *   such as `memberOf;range=0-1499`, and `memberOf` is empty (MS-ADTS 3.1.1.3.1.3.3)
 */
function memberOf(entry: Entry): readonly string[] {
  if (Object.keys(entry).some((name) => /^memberOf;range=/i.test(name))) throw new DirectoryRefused(tooManyGroupsText);
  return textsOf(entry, 'memberOf');
}

/** Returns the groups that the user is directly in. */
async function directGroups(client: Client, configuration: LdapConfiguration, entry: Entry, username: string): Promise<readonly string[]> {
  const { groupsFrom = 'memberOf', groupFilter = '' } = configuration;
  if (groupsFrom === 'memberOf') return memberOf(entry);
  return searchGroups(client, configuration, searchFilter(groupFilter, { dn: entry.dn, username }));
}

/** Returns the groups that a group is in. */
async function parentsOf(client: Client, configuration: LdapConfiguration, dn: string): Promise<readonly string[]> {
  const { groupsFrom = 'memberOf', groupFilter = '' } = configuration;
  if (groupsFrom === 'search') {
    if (!groupFilter.includes('{dn}')) return [];
    return searchGroups(client, configuration, searchFilter(groupFilter, { dn, username: '' }));
  }
  const options = { scope: 'base', filter: '(objectClass=*)', attributes: ['memberOf'], derefAliases: 'never' } satisfies SearchOptions;
  const group = await client.search(dn, options).catch((cause: unknown) => {
    if (cause instanceof Error && cause.name === 'NoSuchObjectError') return null; // no such group, or the account may not read it
    throw cause;
  });
  const [entry] = group?.searchEntries ?? [];
  return entry ? memberOf(entry) : [];
}

/**
 * Returns the DNs of the groups of a user; if the configuration has `nestedGroups`, also of those that contain them, directly or not.
 * @param username the name with which the user has signed in
 * @throws DirectoryRefused for too many groups, or a filter that is too long; an error of the library
 */
export async function groupsOf(
  client: Client,
  configuration: LdapConfiguration,
  entry: Entry,
  username: string,
): Promise<readonly string[]> {
  const isActiveDirectory = textOf(entry, 'sAMAccountName') !== '';
  if (configuration.nestedGroups === true && configuration.groupsFrom !== 'search' && isActiveDirectory)
    return searchGroups(client, configuration, searchFilter(`(member:${inChain}:={dn})`, { dn: entry.dn }));
  const groups = new Map<string, string>(); // by the DN in lower case
  let next = await directGroups(client, configuration, entry, username);
  for (let depth = 0; depth < maxDepth && next.length > 0; depth += 1) {
    const unseen = next.filter((dn) => !groups.has(dn.toLowerCase()));
    for (const dn of unseen) groups.set(dn.toLowerCase(), dn);
    checkGroups([...groups.values()]);
    if (configuration.nestedGroups !== true || depth === maxDepth - 1) break;
    const parents: string[] = [];
    for (const dn of unseen) parents.push(...(await parentsOf(client, configuration, dn)));
    next = parents;
  }
  return [...groups.values()];
}
