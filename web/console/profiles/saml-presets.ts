import type { ProfilePreset } from './preset-select.tsx';

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';

/** The usual settings of well-known providers. docs/operator/saml.md says what to set at each of them. */
export const samlPresets: readonly ProfilePreset[] = [
  {
    name: 'Microsoft Entra ID',
    values: {
      metadataUrl: 'https://login.microsoftonline.com/TENANT-ID/federationmetadata/2007-06/federationmetadata.xml?appid=APPLICATION-ID',
      usernameAttribute: `${claims}/name`,
      emailAttribute: `${claims}/emailaddress`,
      groupsAttribute: 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups',
    },
  },
  // Google publishes the metadata as a file only.
  { name: 'Google', values: { samlSource: 'metadata', emailTrust: 'provider', groupsAttribute: 'groups' } },
  {
    name: 'Okta',
    values: { metadataUrl: 'https://YOUR-ORGANIZATION.okta.com/app/APPLICATION-ID/sso/saml/metadata', groupsAttribute: 'groups' },
  },
  {
    name: 'Keycloak',
    values: {
      ...{ metadataUrl: 'https://YOUR-HOST/realms/YOUR-REALM/protocol/saml/descriptor', usernameAttribute: 'username' },
      ...{ emailAttribute: 'email', groupsAttribute: 'Role' },
    },
  },
  {
    name: 'authentik',
    values: {
      metadataUrl: 'https://YOUR-HOST/application/saml/YOUR-APPLICATION/metadata/',
      usernameAttribute: 'http://schemas.goauthentik.io/2021/02/saml/username',
      emailAttribute: `${claims}/emailaddress`,
      groupsAttribute: 'http://schemas.xmlsoap.org/claims/Group',
    },
  },
];
