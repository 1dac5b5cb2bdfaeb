import Type, { type Static } from 'typebox';
import { roles } from '#core/policy/role.ts';
import { apiKeyFields } from './api-key.ts';
import { bodyOf, etag, instant, limits, lineOf, orNull, recordId, requiredLine } from './field.ts';

/** All fields of an operator. An operator is an account of the console. */
export const operatorFields = {
  id: recordId('Number of the operator, unique in the installation.'),
  tid: recordId('Tenant that the operator belongs to.'),
  name: requiredLine(limits.name, 'Name that the operator signs in with, unique in the tenant without regard to case.'),
  role: Type.Unsafe<(typeof roles)[number]>({
    type: 'string',
    enum: [...roles],
    description: 'What the operator may do: reader, editor or admin.',
  }),
  lastSignInDateTime: instant('When the operator signed in last; null: never.'),
  createdOwner: lineOf(limits.name, { description: 'Key or operator that made the record.' }),
  updatedOwner: lineOf(limits.name, { description: 'Key or operator that changed it last.' }),
  createDateTime: instant('When the record was made.'),
  updateDateTime: instant('When it was changed last.'),
};

/** An operator in responses. */
export const Operator = Type.Object({ ...operatorFields, lastSignInDateTime: orNull(operatorFields.lastSignInDateTime), etag });
export type Operator = Static<typeof Operator>;

const passwordFields = {
  password: lineOf(limits.password, { minLength: 10, description: 'The new password, 10 to 256 characters.' }),
  confirmPassword: lineOf(limits.password, { description: 'The new password, repeated.' }),
  currentPassword: lineOf(limits.password, { description: 'Your own password so far; needed to change your own.' }),
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
  },
  { additionalProperties: false },
);
export type OperatorSignIn = Static<typeof OperatorSignIn>;

/** Body of operator/first. */
export const FirstOperator = bodyOf(
  { ...operatorFields, ...passwordFields, token: requiredLine(64, 'What stands behind # in the address that the start has printed.') },
  ['token', 'name', 'password', 'confirmPassword'],
  [],
);
export type FirstOperator = Static<typeof FirstOperator>;

/** Response of caller/get: the caller, and the facts about the installation that the console needs. */
export const CallerRecord = Type.Object({
  id: operatorFields.id,
  name: operatorFields.name,
  kind: Type.Enum(['key', 'operator'], { description: 'What the caller is.' }),
  role: apiKeyFields.role,
  tid: operatorFields.tid,
  tenantTitle: Type.String({ description: 'Name of the tenant.' }),
  address: Type.String({ description: 'Address that the call came from, as the rules of login profiles see it.' }),
  publicUrl: Type.String({ description: 'Base address of links.' }),
});
export type CallerRecord = Static<typeof CallerRecord>;
