import { Text, TextInput } from '@mantine/core';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { CurrentPasswordField, currentPasswordErrors } from './current-password-field.tsx';
import { type NewFactorProps, useNewFactor } from './new-factor.tsx';
import { addPasskey } from './passkeys.ts';

/** Adds a passkey. If the operator had no second factor before, shows the recovery codes. */
export function AddPasskeyForm(props: NewFactorProps) {
  const { finish, shownCodes } = useNewFactor(props);
  const smallForm = useSmallForm(
    { title: 'Passkey', currentPassword: '' },
    async ({ title, currentPassword }) => finish(await addPasskey(title, currentPassword)),
    currentPasswordErrors,
  );
  const { form } = smallForm;
  if (shownCodes) return shownCodes;
  return (
    <SmallFormFields smallForm={smallForm} saveLabel="Create passkey" cancel={props.cancel}>
      <Text>
        A passkey is stored on this device, on your phone or on a security key. When you sign in, you confirm with your fingerprint, your
        face or the key. You do not type a code.
      </Text>
      <TextInput label="Name of the passkey" description="Helps you recognize it in the list." {...form.getInputProps('title')} />
      <CurrentPasswordField data-autofocus {...form.getInputProps('currentPassword')} />
    </SmallFormFields>
  );
}
