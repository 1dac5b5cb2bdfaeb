import Type, { type Static } from 'typebox';
import { roles } from '#core/authorization/role.ts';
import { apiKeyFields } from './api-key.ts';
import { bodyOf, etag, flag, instant, limits, lineOf, orNull, recordId, requiredLine, stampFields } from './field.ts';
import { PasskeySignIn } from './passkey.ts';
import { secondFactorCode } from './second-factor.ts';

/** All fields of an operator. An operator is an account of the console. */
export const operatorFields = {
  id: recordId('Number of the operator, unique in the installation.'),
  tid: recordId('Tenant that the operator belongs to.'),
  name: requiredLine(limits.name, 'User name for sign-in. Unique in the tenant, ignoring case.'),
  role: Type.Unsafe<(typeof roles)[number]>({
    type: 'string',
    enum: [...roles],
    description: 'Role of the operator: reader, editor or admin.',
  }),
  signsInAtProvider: flag('true: the operator can sign in at the provider of `POSTERN_OPERATOR_OIDC_ISSUER`.'),
  roleFromProvider: flag('true: each sign-in at the provider sets the role.'),
  hasSecondFactor: flag('true: the operator has a second factor. A sign-in with a password requires it.'),
  lastSignInDateTime: instant('When the operator last signed in; null: never.'),
  ...stampFields,
};

/** An operator in responses. */
export const Operator = Type.Object({ ...operatorFields, lastSignInDateTime: orNull(operatorFields.lastSignInDateTime), etag });
export type Operator = Static<typeof Operator>;

const passwordFields = {
  password: lineOf(limits.password, { minLength: 10, description: 'The new password, 10 to 256 characters.' }),
  confirmPassword: lineOf(limits.password, { description: 'The new password again.' }),
  currentPassword: lineOf(limits.password, { description: 'Your current password. Required to change your own password.' }),
};

/** Body of operator/add. */
export const NewOperator = bodyOf({ ...operatorFields, ...passwordFields }, ['name', 'role', 'password', 'confirmPassword'], ['tid']);
export type NewOperator = Static<typeof NewOperator>;

/** Body of operator/update. */
export const OperatorChange = bodyOf(operatorFields, ['id'], ['name', 'role']);
export type OperatorChange = Static<typeof OperatorChange>;

/** Body of operator/updatePassword. */
export const OperatorPassword = bodyOf(
  { ...operatorFields, ...passwordFields },
  ['id', 'password', 'confirmPassword'],
  ['currentPassword'],
);
export type OperatorPassword = Static<typeof OperatorPassword>;

/** Body of operator/signIn. */
export const OperatorSignIn = Type.Object(
  {
    name: operatorFields.name,
    password: lineOf(limits.password, { minLength: 1, description: 'Password.' }),
    tid: Type.Optional(recordId('Tenant of the operator; default 1.')),
    code: Type.Optional(secondFactorCode),
    passkey: Type.Optional(PasskeySignIn),
  },
  { additionalProperties: false },
);
export type OperatorSignIn = Static<typeof OperatorSignIn>;

/** Response of operator/signInMethods. */
export const SignInMethods = Type.Object({
  provider: orNull(Type.String({ description: 'Host of the provider at which operators can sign in; null: there is none.' })),
});
export type SignInMethods = Static<typeof SignInMethods>;

/** Response of operator/linkProvider. */
export const ProviderAddress = Type.Object({
  url: Type.String({ description: 'Address at the provider, for the browser that has sent the request.' }),
});
export type ProviderAddress = Static<typeof ProviderAddress>;

/** Body of operator/first. */
export const FirstOperator = bodyOf(
  {
    ...operatorFields,
    ...passwordFields,
    token: requiredLine(64, 'The part after # in the address that Postern printed when it started.'),
  },
  ['token', 'name', 'password', 'confirmPassword'],
  [],
);
export type FirstOperator = Static<typeof FirstOperator>;

/** Response of caller/get and of a sign-in to the console: the caller, and the facts about the installation that the console needs. */
export const CallerRecord = Type.Object({
  id: recordId('Number of the key or operator.'),
  name: requiredLine(limits.name, 'Name of the key, or user name of the operator.'),
  kind: Type.Enum(['key', 'operator'], { description: 'Kind of the caller.' }),
  role: apiKeyFields.role,
  tid: recordId('Tenant that the key or operator belongs to.'),
  tenantTitle: Type.String({ description: 'Name of the tenant.' }),
  address: Type.String({ description: 'IP address of the caller, as used by the address ranges of login profiles.' }),
  publicUrl: Type.String({ description: 'Base URL of links.' }),
  byProvider: flag('true: the operator has signed in at the provider of `POSTERN_OPERATOR_OIDC_ISSUER`.'),
  signsInAtProvider: flag('true: the operator can sign in at the provider of `POSTERN_OPERATOR_OIDC_ISSUER`.'),
  lacksSecondFactor: flag('true: the policy requires a second factor, and the operator must add one before anything else.'),
});
export type CallerRecord = Static<typeof CallerRecord>;
