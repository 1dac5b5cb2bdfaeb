import { PasswordInput } from '@mantine/core';
import type { Problem } from '#console/api/call.ts';

/** Returns the field errors of a wrong current password. */
export const currentPasswordErrors = ({ code }: Problem): Record<string, string> =>
  code === 'currentPasswordWrong' ? { currentPassword: 'The current password is wrong.' } : {};

/** The field of the current password, which operators must enter to change their own second factors or to connect to the provider. */
export const CurrentPasswordField = (props: object) => (
  <PasswordInput label="Current password" autoComplete="current-password" required withAsterisk={false} {...props} />
);
