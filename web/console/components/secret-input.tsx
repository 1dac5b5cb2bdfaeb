import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { secretMask } from '#core/records/login-profile.ts';

/** A field for a secret. A stored secret appears as dots. The secret is kept unless the operator types another one. */
export function SecretInput(props: PasswordInputProps) {
  const isStored = props.value === secretMask;
  return (
    <PasswordInput
      autoComplete="off"
      description={isStored ? 'A value is stored. Type another one to replace it.' : undefined}
      {...props}
      onFocus={({ currentTarget }) => isStored && currentTarget.select()}
    />
  );
}
