import Type, { type Static } from 'typebox';
import { patternText } from './patterned.ts';

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4000, description });
const attribute = (description: string) => Type.Optional(patternText('^[A-Za-z][\\w;-]*$', { maxLength: 100, description }));
/** Schema of the configuration of an LDAP profile. */
export const ldapConfiguration = Type.Object(
  {
    url: patternText('^ldaps?://[^\\s/]+', {
      maxLength: 4000,
      description: 'URL of the directory: ldaps://…, or ldap://… with startTls or for a directory on this machine.',
    }),
    startTls: Type.Optional(Type.Boolean({ description: 'Encrypts a connection to an ldap:// address before anything else is sent.' })),
    ca: Type.Optional(text('Certificates in PEM to trust instead of those of Node.js.')),
    baseDn: text('Base DN of the searches for users and groups.'),
    bindDn: Type.Optional(text('DN of the account that searches for users. Not with bindPattern.')),
    bindPassword: Type.Optional(text('Password of bindDn.')),
    userFilter: Type.Optional(text('Filter that finds a user, with {username}, such as (uid={username}). It must match one entry.')),
    bindPattern: Type.Optional(
      text('DN or name with which users sign in at the directory, with {username}, such as {username}@example.com. Instead of bindDn.'),
    ),
    usernameAttribute: attribute('Attribute with the name by which shares list a user. Default: sAMAccountName, else uid.'),
    emailAttribute: attribute(
      'Attribute with an e-mail address by which shares may list a user, such as mail. Choose one that users cannot change themselves. Default: none.',
    ),
    nameAttribute: attribute('Attribute with the display name. Default: displayName, else cn, else the user name.'),
    groupsFrom: Type.Optional(
      Type.Enum(['memberOf', 'search'], {
        description:
          'Where the groups of a user come from. memberOf (default): the attribute memberOf of the user. search: a search with groupFilter.',
      }),
    ),
    groupFilter: Type.Optional(text('Filter that finds the groups of a user, with {dn} or {username}, such as (member={dn}).')),
    nestedGroups: Type.Optional(Type.Boolean({ description: 'true: a user also belongs to the groups that contain one of their groups.' })),
    requireGroup: Type.Optional(text('Group, by name or DN, that a user must be in to sign in.')),
  },
  { additionalProperties: false },
);
export type LdapConfiguration = Static<typeof ldapConfiguration>;
