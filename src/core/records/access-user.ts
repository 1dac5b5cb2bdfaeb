import Type, { type Static } from 'typebox';
import { bodyOf, etag, flag, limits, lineOf, orNull, recordId, stampFields } from './field.ts';
import { patternText } from './patterned.ts';
import { StoredFields } from './stored-fields.ts';

/** All fields of an access user. */
export const accessUserFields = {
  id: recordId('Number of the access user, unique in the installation.'),
  username: patternText('^(?!\\s)[^\\p{Cc}\\p{Cs},:]*(?<!\\s)$', {
    minLength: 1,
    maxLength: limits.name,
    description:
      'User name for sign-in. Unique in the login profile, ignoring case. Must not contain a comma, a colon or a control character, or begin or end with a space.',
  }),
  firstName: lineOf(limits.name, { description: 'First name.' }),
  lastName: lineOf(limits.name, { description: 'Last name.' }),
  email: patternText('^(?:[^\\s\\p{Cc}\\p{Cs}@,]+@[^\\s\\p{Cc}\\p{Cs}@,]+)?$', {
    maxLength: limits.email,
    description: 'E-mail address.',
  }),
  authId: recordId('Login profile that the user belongs to.'),
  ...stampFields,
  loginProfileName: lineOf(limits.name, { description: 'Title of the login profile.' }),
  authTypeId: Type.Integer({ description: "Type of the login profile, as a number (see a profile's typeId)." }),
  authTypeStr: lineOf(32, { description: 'Type of the login profile, as a name.' }),
  active: flag('false: the user cannot sign in, and existing sessions have ended.'),
};

/** The flags and texts of an access user that are stored as they are. Their columns have the same names in snake case. */
export const storedUserFields = new StoredFields({ flags: ['active'], texts: ['username', 'firstName', 'lastName', 'email'] });

/** An access user in responses. */
export const AccessUser = Type.Object({ ...accessUserFields, etag });
export type AccessUser = Static<typeof AccessUser>;

/** Body of accessuser/add. */
export const NewAccessUser = bodyOf(accessUserFields, ['username', 'active'], ['firstName', 'lastName', 'email', 'authId']);
export type NewAccessUser = Static<typeof NewAccessUser>;

/** Maximum number of access users in one call of accessuser/addMany. */
export const maxUsersPerCall = 1000;

/** Body of accessuser/addMany. */
export const NewAccessUsers = Type.Object(
  {
    authId: Type.Optional(orNull(accessUserFields.authId)),
    users: Type.Array(bodyOf(accessUserFields, ['username', 'active'], ['firstName', 'lastName', 'email']), {
      minItems: 1,
      maxItems: maxUsersPerCall,
      description: `The access users to add, at most ${maxUsersPerCall}. Either all of them are added or none.`,
    }),
  },
  { additionalProperties: false },
);

/** Body of accessuser/update. */
export const AccessUserChange = bodyOf(accessUserFields, ['id', 'authId'], ['firstName', 'lastName', 'email', 'active']);
export type AccessUserChange = Static<typeof AccessUserChange>;

const password = (description: string) => lineOf(limits.password, { description });

/** Body of accessuser/updateUserPassword. */
export const PasswordChange = bodyOf(
  {
    ...accessUserFields,
    userPassword: { ...password('The new password, 10 to 256 characters.'), minLength: 10 },
    confirmPassword: password('The new password again.'),
    currentPassword: password('The current password. It is checked if it is present.'),
  },
  ['username', 'userPassword', 'confirmPassword'],
  ['authId', 'currentPassword'],
);
export type PasswordChange = Static<typeof PasswordChange>;
