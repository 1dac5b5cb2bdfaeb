import { changedFieldsBy } from '#console/components/record-editor.tsx';
import type { AccessUser } from '#core/records/access-user.ts';

/** The form values of an access user. */
export interface UserValues extends Record<string, unknown> {
  readonly username: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly authId: number;
  readonly active: boolean;
  /** Only for a new user. Empty: no password yet. */
  readonly password: string;
}

export const userValuesOf = ({ username, firstName, lastName, email, authId, active }: AccessUser): UserValues => ({
  username,
  firstName,
  lastName,
  email,
  authId,
  active,
  password: '',
});

export const changedUserFields = changedFieldsBy<UserValues>({
  firstName: 'first name',
  lastName: 'last name',
  email: 'e-mail',
  authId: 'login profile',
  active: 'active',
});
