import Type, { type Static } from 'typebox';
import { languages } from '#core/translations/languages.ts';
import { bodyOf, count, etag, freeText, limits, lineOf, recordId, stampFields } from './field.ts';
import { StoredFields } from './stored-fields.ts';

/** Types of sign-in and their numbers in the REST API. */
export const profileTypes = { PUBLIC: 1, PASSWORD: 2, USERS: 3, EMAIL_CODE: 4, OIDC: 5, SAML: 6, LDAP: 7 } as const;
export type ProfileType = keyof typeof profileTypes;
const typeNames = Object.keys(profileTypes) as readonly ProfileType[]; // Object.keys widens to string[]

/** Returns the name of a type in `profileTypes`. @throws RangeError if there is no such type */
export function profileTypeName(typeId: number): ProfileType {
  const name = typeNames.find((typeName) => profileTypes[typeName] === typeId);
  if (!name) throw new RangeError(`no login profile type ${typeId}`);
  return name;
}

const typeIds = Object.values(profileTypes);
/** Returns the schema of a field that is a type of login profile. */
export const profileTypeId = (description: string) =>
  Type.Integer({ minimum: Math.min(...typeIds), maximum: Math.max(...typeIds), description });

/** Returns whether visitors must sign in. Only profiles that require sign-in have a portal. */
export const requiresSignIn = (typeId: number) => typeId !== profileTypes.PUBLIC;

/**
 * Returns whether shares with a profile of this type list its access users by id: then a new user with the name of a deleted one
 * inherits no access. Shares with other profiles list names.
 */
export const listsUsersById = (typeId: number) => typeId === profileTypes.USERS;

/** Returns whether access users sign in with profiles of a type. `allowedLogins` counts users of such profiles only. */
export const hasAccessUsers = (typeId: number) => typeId === profileTypes.USERS || typeId === profileTypes.EMAIL_CODE;

/** Returns whether the access users of a profile sign in with their e-mail addresses, which must then be unique in the profile. */
export const findsUsersByEmail = (typeId: number) => typeId === profileTypes.EMAIL_CODE;

/** Returns the types for which a function such as `hasAccessUsers` returns true. */
export const profileTypesWith = (rule: (typeId: number) => boolean): number[] => typeIds.filter(rule);

/** The purposes with which the secrets of a login profile are sealed (see `Vault.seal`). */
export const profileSealPurposes = { password: 'login profile password', configuration: 'login profile configuration' } as const;

/** Replaces a secret in responses. If a client sends it back, the secret does not change. */
export const secretMask = '********';

/** All fields of a login profile. */
export const loginProfileFields = {
  id: recordId('Number of the login profile, unique in the installation.'),
  title: lineOf(limits.name, { minLength: 1, description: 'Name of the profile, shown on the sign-in page.' }),
  tid: recordId('Tenant that owns the profile.'),
  description: freeText('Description for operators. Visitors do not see it.'),
  ipRange: Type.String({
    maxLength: limits.list,
    description: `Allowed IP addresses of visitors: at most ${limits.ranges} addresses, CIDR blocks or first-last ranges. Empty: all addresses.`,
  }),
  typeId: profileTypeId(
    `${Object.entries(profileTypes)
      .map(([name, id]) => `${id} ${name}`)
      .join(', ')}.`,
  ),
  typeString: lineOf(32, { description: 'The type as a name.' }),
  shareCount: count('Shares that refer to the profile.'),
  userCount: count('Access users of the profile, active or not.'),
  viewId: Type.String({ maxLength: 64, description: "viewId of the profile's portal." }),
  viewUrl: lineOf(limits.path, { description: "Address of the profile's portal." }),
  username: lineOf(limits.name, { description: 'User name of a PASSWORD profile. Empty: visitors enter only the password.' }),
  password: lineOf(limits.password, {
    description: `Password of a PASSWORD profile. If there is one, responses contain ${secretMask} instead.`,
  }),
  lang: lineOf(35, {
    description: `Language of the visitor's pages, as a BCP 47 tag (${languages.join(', ')}). Empty: the language of the browser.`,
  }),
  startupMessage: freeText('Shown on the sign-in page.'),
  configuration: Type.String({
    maxLength: limits.configuration,
    description: 'Configuration of the type: a JSON object in a string. Secrets are masked in responses.',
  }),
  ...stampFields,
};

/** The texts of a login profile that are stored as they are. The columns of the table are derived from them. */
export const storedProfileFields = new StoredFields({
  flags: [],
  texts: ['title', 'description', 'ipRange', 'username', 'lang', 'startupMessage'],
});

/** A login profile in responses. */
export const LoginProfile = Type.Object({ ...loginProfileFields, etag });
export type LoginProfile = Static<typeof LoginProfile>;

const writableFields = [
  'title',
  'description',
  'ipRange',
  'typeId',
  'username',
  'password',
  'lang',
  'startupMessage',
  'configuration',
] as const;

/** Body of loginprofile/add. `userCount` is computed. The body may contain it, as the published REST API says, but it is ignored. */
export const NewLoginProfile = bodyOf(loginProfileFields, [], [...writableFields, 'userCount']);
export type NewLoginProfile = Static<typeof NewLoginProfile>;

/** Body of loginprofile/update. In the REST API every field is optional, but an update without an id is refused. */
export const LoginProfileChange = bodyOf(loginProfileFields, [], ['id', ...writableFields, 'userCount', 'viewId']);
export type LoginProfileChange = Static<typeof LoginProfileChange>;
