import type { ProfilePreset } from './preset-select.tsx';

/** The usual settings of well-known directories. docs/operator/ldap.md explains them. */
export const ldapPresets: readonly ProfilePreset[] = [
  {
    name: 'Active Directory',
    values: {
      ...{ url: 'ldaps://YOUR-SERVER', baseDn: 'DC=YOUR-DOMAIN,DC=com', bindDn: 'CN=postern,CN=Users,DC=YOUR-DOMAIN,DC=com' },
      userFilter: '(&(objectCategory=person)(|(sAMAccountName={username})(userPrincipalName={username})))',
      ...{ usernameAttribute: 'sAMAccountName', emailAttribute: 'mail', groupsFrom: 'memberOf', nestedGroups: true },
    },
  },
  {
    name: 'OpenLDAP',
    values: {
      ...{ url: 'ldaps://YOUR-SERVER', baseDn: 'dc=YOUR-DOMAIN,dc=com', bindDn: 'cn=postern,dc=YOUR-DOMAIN,dc=com' },
      userFilter: '(&(objectClass=inetOrgPerson)(uid={username}))',
      ...{ usernameAttribute: 'uid', emailAttribute: 'mail', groupsFrom: 'search', groupFilter: '(member={dn})' },
    },
  },
];
