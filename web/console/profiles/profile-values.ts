import { type LoginProfile, profileTypes } from '#core/records/login-profile.ts';

/** The form values of a login profile. Each setting of a kind's configuration is a separate field. */
export interface ProfileValues extends Record<string, unknown> {
  readonly title: string;
  readonly description: string;
  readonly startupMessage: string;
  readonly lang: string;
  readonly ipRange: string;
  readonly typeId: number;
  readonly username: string;
  readonly password: string;
  readonly allow: string[];
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly requireGroup: string;
  readonly usernameClaim: string;
  readonly emailTrust: string;
  readonly prompt: string;
  readonly clientAuth: string;
  /** Where the settings of the SAML provider come from. */
  readonly samlSource: string;
  readonly metadataUrl: string;
  readonly metadata: string;
  readonly entityId: string;
  readonly entryPoint: string;
  readonly certificates: string;
  readonly groupsAttribute: string;
  readonly idpInitiated: boolean;
  readonly url: string;
  readonly startTls: boolean;
  readonly baseDn: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly userFilter: string;
  readonly groupFilter: string;
  readonly ca: string;
  /** How users are found in the directory: `search` or `pattern`. */
  readonly ldapLookup: string;
  readonly bindPattern: string;
  readonly usernameAttribute: string;
  readonly emailAttribute: string;
  readonly nameAttribute: string;
  readonly groupsFrom: string;
  readonly nestedGroups: boolean;
}

export const emptyProfileValues: ProfileValues = {
  title: '',
  description: '',
  startupMessage: '',
  lang: '',
  ipRange: '',
  typeId: profileTypes.USERS,
  username: '',
  password: '',
  allow: [],
  issuer: '',
  clientId: '',
  clientSecret: '',
  scopes: '',
  groupsClaim: '',
  requireGroup: '',
  usernameClaim: '',
  emailTrust: 'verified',
  prompt: '',
  clientAuth: '',
  samlSource: 'metadataUrl',
  metadataUrl: '',
  metadata: '',
  entityId: '',
  entryPoint: '',
  certificates: '',
  groupsAttribute: '',
  idpInitiated: false,
  url: '',
  startTls: false,
  baseDn: '',
  bindDn: '',
  bindPassword: '',
  userFilter: '',
  groupFilter: '',
  ca: '',
  ldapLookup: 'search',
  bindPattern: '',
  usernameAttribute: '',
  emailAttribute: '',
  nameAttribute: '',
  groupsFrom: 'memberOf',
  nestedGroups: false,
};

const pemHeader = '-----BEGIN CERTIFICATE-----';

/** Returns the PEM certificates of a text, one per element. */
const certificatesIn = (text: string) =>
  text
    .split(pemHeader)
    .slice(1)
    .map((rest) => (pemHeader + rest).trim());

/** Returns the fields that determine how the users of a directory are found. */
const usersOfDirectory = ({ ldapLookup, bindPattern, bindDn, bindPassword, userFilter }: ProfileValues) =>
  ldapLookup === 'pattern' ? { bindPattern } : { bindDn, bindPassword, userFilter };

/** Returns the fields that describe a SAML provider. */
function samlProviderOf({ samlSource, metadataUrl, metadata, entryPoint, certificates }: ProfileValues): object {
  if (samlSource === 'metadataUrl') return { metadataUrl };
  return samlSource === 'metadata' ? { metadata } : { entryPoint, certificates: certificatesIn(certificates) };
}

/** Returns the field emailTrust, or no field for the default, `verified`. */
const trustOf = ({ emailTrust }: ProfileValues) => (emailTrust === 'provider' ? { emailTrust } : {});

/** Returns the fields that determine how the groups of a directory are found, or no field for the default, memberOf. */
const groupsOfDirectory = ({ groupsFrom, groupFilter }: ProfileValues) => (groupsFrom === 'search' ? { groupsFrom, groupFilter } : {});

/** Returns the configuration for the API, without empty optional fields. null: the selected kind has none. */
export function configurationOf(values: ProfileValues): object | null {
  const withoutEmpty = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== false));
  switch (values.typeId) {
    case profileTypes.EMAIL_CODE:
      return { allow: values.allow };
    case profileTypes.OIDC: {
      const { issuer, clientId, clientSecret, scopes, groupsClaim, requireGroup, usernameClaim, prompt, clientAuth } = values;
      const optional = { clientSecret, scopes, groupsClaim, requireGroup, usernameClaim, prompt, clientAuth };
      return { issuer, clientId, ...withoutEmpty(optional), ...trustOf(values) };
    }
    case profileTypes.SAML: {
      const { entityId, usernameAttribute, emailAttribute, nameAttribute, groupsAttribute, requireGroup, idpInitiated } = values;
      const optional = { entityId, usernameAttribute, emailAttribute, nameAttribute, groupsAttribute, requireGroup, idpInitiated };
      return { ...samlProviderOf(values), ...withoutEmpty(optional), ...trustOf(values) };
    }
    case profileTypes.LDAP: {
      const { url, baseDn, startTls, ca, usernameAttribute, emailAttribute, nameAttribute, nestedGroups, requireGroup } = values;
      const optional = { startTls, ca, usernameAttribute, emailAttribute, nameAttribute, nestedGroups, requireGroup };
      return { url, baseDn, ...usersOfDirectory(values), ...groupsOfDirectory(values), ...withoutEmpty(optional) };
    }
    default:
      return null;
  }
}

/** Returns the request body of loginprofile/add and loginprofile/update. */
export function profileBodyOf(values: ProfileValues) {
  const { title, description, startupMessage, lang, ipRange, typeId, username, password } = values;
  const configuration = configurationOf(values);
  const isPassword = typeId === profileTypes.PASSWORD;
  return {
    title,
    description,
    startupMessage,
    lang,
    ipRange,
    typeId,
    username: isPassword ? username : '',
    password: isPassword ? password : null,
    configuration: configuration === null ? '' : JSON.stringify(configuration),
  };
}

export function profileValuesOf(profile: LoginProfile): ProfileValues {
  const { title, description, startupMessage, lang, ipRange, typeId, username, password } = profile;
  const configuration: Record<string, unknown> = profile.configuration === '' ? {} : JSON.parse(profile.configuration);
  const fields = Object.entries(configuration).filter(([name, value]) => typeof value === typeof emptyProfileValues[name]);
  const certificates = Array.isArray(configuration['certificates']) ? configuration['certificates'].join('\n') : '';
  return {
    ...emptyProfileValues,
    ...Object.fromEntries(fields),
    ...(certificates ? { certificates, samlSource: 'manual' } : {}),
    ...(configuration['metadata'] === undefined ? {} : { samlSource: 'metadata' }),
    ...(configuration['bindPattern'] === undefined ? {} : { ldapLookup: 'pattern' }),
    allow: Array.isArray(configuration['allow']) ? configuration['allow'].map(String) : [],
    ...{ title, description, startupMessage, lang, ipRange, typeId, username, password },
  };
}
