import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { CurrentPasswordField, wrongPassword } from './current-password-field.tsx';
import { addPasskey } from './passkeys.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

interface Props {
  /** Called when the passkey was added, and its recovery codes were saved. */
  readonly onAdded: () => void;
  /** Called when the recovery codes appear: they must be saved before the form is closed. */
  readonly onCodes: () => void;
  readonly cancel?: () => void;
}

/** Adds a passkey. If it is the first second factor, shows the recovery codes. */
export function AddPasskeyForm({ onAdded, onCodes, cancel }: Props) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const smallForm = useSmallForm(
    { title: 'Passkey', currentPassword: '' },
    async ({ title, currentPassword }) => {
      const recoveryCodes = await addPasskey(title, currentPassword);
      if (!recoveryCodes) return onAdded();
      setCodes(recoveryCodes);
      onCodes();
    },
    wrongPassword,
  );
  const { form } = smallForm;
  if (codes) return <RecoveryCodes codes={codes} done={onAdded} />;
  return (
    <SmallFormFields of={smallForm} saveLabel="Create passkey" cancel={cancel}>
      <Text>
        A passkey is kept on this device, on your phone or on a security key. When you sign in, you confirm with your fingerprint, your face
        or the key, and type no code.
      </Text>
      <TextInput label="Name of the passkey" description="To tell several of them apart." {...form.getInputProps('title')} />
      <CurrentPasswordField data-autofocus {...form.getInputProps('currentPassword')} />
    </SmallFormFields>
  );
}
