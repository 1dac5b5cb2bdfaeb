import type { ProfilePreset } from './preset-select.tsx';

const common = { scopes: 'openid email profile offline_access', groupsClaim: 'groups' };

/** The usual settings of well-known providers. docs/operator/openid.md says what to set at each of them. */
export const oidcPresets: readonly ProfilePreset[] = [
  {
    name: 'Microsoft Entra ID',
    values: { ...common, issuer: 'https://login.microsoftonline.com/TENANT-ID/v2.0', usernameClaim: 'upn' },
  },
  // Google Workspace has no groups in its tokens; `hd` is the domain of the organization.
  {
    name: 'Google',
    values: {
      ...{ issuer: 'https://accounts.google.com', scopes: 'openid email profile' },
      ...{ groupsClaim: 'hd', requireGroup: 'YOUR-DOMAIN', prompt: 'select_account' },
    },
  },
  { name: 'Okta', values: { ...common, issuer: 'https://YOUR-ORGANIZATION.okta.com', scopes: `${common.scopes} groups` } },
  { name: 'Keycloak', values: { ...common, issuer: 'https://YOUR-HOST/realms/YOUR-REALM', usernameClaim: 'preferred_username' } },
  { name: 'authentik', values: { ...common, issuer: 'https://YOUR-HOST/application/o/YOUR-APPLICATION/' } },
];
