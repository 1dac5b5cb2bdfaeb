import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesSignIn } from '../../src/core/records/profile-configuration.ts';
import { emptyProfileValues, type ProfileValues, profileBodyOf } from '../../web/console/profiles/profile-values.ts';
import { profileChangeWarning } from '../../web/console/profiles/profile-warnings.ts';

const oidc = { ...emptyProfileValues, typeId: 5, issuer: 'https://login.example.com', clientId: 'postern', clientSecret: 'secret' };
const saml = { ...emptyProfileValues, typeId: 6, metadataUrl: 'https://login.example.com/metadata', entityId: 'https://login.example.com' };
const ldap = {
  ...emptyProfileValues,
  typeId: 7,
  url: 'ldaps://directory.example.com',
  baseDn: 'dc=example',
  bindDn: 'cn=postern',
  userFilter: '(uid={username})',
};

const changes: readonly (readonly [string, before: ProfileValues, after: Partial<ProfileValues>])[] = [
  ['OIDC: another issuer', oidc, { issuer: 'https://other.example.com' }],
  ['OIDC: another client secret', oidc, { clientSecret: 'new secret' }],
  ['SAML: another attribute for the user name', saml, { usernameAttribute: 'mail' }],
  ['SAML: fields instead of metadata', saml, { samlSource: 'manual', entryPoint: 'https://login.example.com/sso', certificates: 'PEM' }],
  ['SAML: sign-in that begins at the provider', saml, { idpInitiated: true }],
  ['LDAP: another server', ldap, { url: 'ldaps://other.example.com' }],
  ['LDAP: another password of the account', ldap, { bindPassword: 'new secret' }],
  ['LDAP: a pattern instead of a search', ldap, { ldapLookup: 'pattern', bindPattern: 'uid={username},dc=example' }],
  ['LDAP: a field of OIDC, which is not sent', ldap, { issuer: 'https://login.example.com' }],
];

test('the console warns if and only if a change of a sign-in setting ends the sessions of the profile', () => {
  for (const [change, before, difference] of changes) {
    const after = { ...before, ...difference };
    const ends = changesSignIn(before.typeId, profileBodyOf(before).configuration, profileBodyOf(after).configuration);
    assert.equal(profileChangeWarning(before, after, false).includes('will be signed out'), ends, change);
  }
});
