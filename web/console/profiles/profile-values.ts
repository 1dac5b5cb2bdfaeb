import { changedFieldsBy } from '#console/records/record-editor.tsx';
import { type LoginProfile, profileTypes } from '#core/records/login-profile.ts';

/** A login profile as its form holds it: what each kind is configured by stands in fields of its own. */
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
  readonly samlBy: string;
  readonly metadataUrl: string;
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
}

export const emptyProfile: ProfileValues = {
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
  samlBy: 'metadata',
  metadataUrl: '',
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
};

const pemHeader = '-----BEGIN CERTIFICATE-----';

/** PEM certificates, one after the other, each by itself. */
const certificatesIn = (text: string) =>
  text
    .split(pemHeader)
    .slice(1)
    .map((rest) => (pemHeader + rest).trim());

/** What a kind is configured by, in the interface's shape; optional fields that are empty are left out. */
function configurationOf(values: ProfileValues): object | null {
  const given = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== false));
  switch (values.typeId) {
    case profileTypes.EMAIL_CODE:
      return { allow: values.allow };
    case profileTypes.OIDC: {
      const { issuer, clientId, clientSecret, scopes, groupsClaim } = values;
      return { issuer, clientId, clientSecret, ...given({ scopes, groupsClaim }) };
    }
    case profileTypes.SAML: {
      const { metadataUrl, entryPoint, groupsAttribute, idpInitiated } = values;
      const provider = values.samlBy === 'metadata' ? { metadataUrl } : { entryPoint, certificates: certificatesIn(values.certificates) };
      return { ...provider, ...given({ groupsAttribute, idpInitiated }) };
    }
    case profileTypes.LDAP: {
      const { url, baseDn, bindDn, bindPassword, userFilter, groupFilter, startTls } = values;
      return { url, baseDn, bindDn, bindPassword, userFilter, ...given({ groupFilter, startTls }) };
    }
    default:
      return null;
  }
}

/** The form as loginprofile/add and loginprofile/update take it. */
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

/** A login profile as it was answered, for its form. */
export function profileValuesOf(profile: LoginProfile): ProfileValues {
  const { title, description, startupMessage, lang, ipRange, typeId, username, password } = profile;
  const configuration: Record<string, unknown> = profile.configuration === '' ? {} : JSON.parse(profile.configuration);
  const fields = Object.entries(configuration).filter(([name, value]) => typeof value === typeof emptyProfile[name]);
  const certificates = Array.isArray(configuration['certificates']) ? configuration['certificates'].join('\n') : '';
  return {
    ...emptyProfile,
    ...Object.fromEntries(fields),
    ...(certificates ? { certificates, samlBy: 'hand' } : {}),
    allow: Array.isArray(configuration['allow']) ? configuration['allow'].map(String) : [],
    ...{ title, description, startupMessage, lang, ipRange, typeId, username, password },
  };
}

const fieldLabels = {
  title: 'title',
  description: 'description',
  startupMessage: 'notice',
  lang: 'language',
  ipRange: 'addresses',
  typeId: 'how visitors sign in',
  username: 'user name',
  password: 'password',
};

/** In words, the fields that differ. */
export const changedProfileFields = changedFieldsBy<ProfileValues>({
  ...Object.fromEntries(Object.keys(emptyProfile).map((name) => [name, 'the settings of its kind'])),
  ...fieldLabels,
});

const fieldsThatEndSessions = Object.keys(emptyProfile).filter((name) => !['title', 'description', 'startupMessage', 'lang', 'ipRange'].includes(name));

/** What a change means for those who use the profile; empty: nothing that they would notice. */
export function profileChangeWarning(before: ProfileValues, after: ProfileValues, shuts: boolean): string {
  const ends = fieldsThatEndSessions.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return [
    ends ? 'Everyone who is signed in by it is signed out.' : '',
    before.ipRange !== after.ipRange && after.ipRange.trim() !== '' ? 'Visitors from other addresses are shut out at once.' : '',
    shuts ? 'Your own address is not among them.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** What must not happen by accident; empty: nothing of the kind. */
export function profileChangeQuestion(before: ProfileValues, after: ProfileValues, shares: number, shuts: boolean): string {
  if (after.typeId === profileTypes.PUBLIC && before.typeId !== profileTypes.PUBLIC && shares > 0)
    return `${shares === 1 ? 'One share' : `${shares} shares`} will be open to anyone who has the link, without any sign-in.`;
  return shuts && before.ipRange !== after.ipRange
    ? 'Your own address is not among the addresses: you yourself could not open these links from here.'
    : '';
}
