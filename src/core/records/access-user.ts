import Type, { type Static } from 'typebox';
import { bodyOf, etag, flag, instant, limits, lineOf, orNull, recordId } from './field.ts';
import { patternText } from './patterned.ts';

/** All fields of an access user. */
export const accessUserFields = {
  id: recordId('Number of the access user, unique in the installation.'),
  username: patternText('^(?!\\s)[^\\p{Cc}\\p{Cs},:]*(?<!\\s)$', {
    minLength: 1,
    maxLength: limits.name,
    description: 'Name to sign in with, unique within its login profile without regard to case; no comma, no colon, no space around it.',
  }),
  firstName: lineOf(limits.name, { description: 'First name.' }),
  lastName: lineOf(limits.name, { description: 'Last name.' }),
  email: patternText('^(?:[^\\s\\p{Cc}\\p{Cs}@,]+@[^\\s\\p{Cc}\\p{Cs}@,]+)?$', {
    maxLength: limits.email,
    description: 'E-mail address.',
  }),
  authId: recordId('Login profile that the user belongs to.'),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that changed it last.' }),
  createDateTime: instant('When the record was made.'),
  updateDateTime: instant('When it was changed last.'),
  loginProfileName: lineOf(limits.name, { description: 'Title of the login profile.' }),
  authTypeId: Type.Integer({ description: "Type of the login profile, as a number (see a profile's typeId)." }),
  authTypeStr: lineOf(32, { description: 'Type of the login profile, as a word.' }),
  active: flag('false: the user cannot sign in, and open sessions have ended.'),
};

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
      description: `The access users, at most ${maxUsersPerCall}. All of them are added, or none.`,
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
    confirmPassword: password('The new password, repeated.'),
    currentPassword: password('The password so far; checked if sent.'),
  },
  ['username', 'userPassword', 'confirmPassword'],
  ['authId', 'currentPassword'],
);
export type PasswordChange = Static<typeof PasswordChange>;
