import { Text, TextInput } from '@mantine/core';
import { Dialog } from './dialog.tsx';
import { SmallFormFields, useSmallForm } from './small-form.tsx';

interface Props {
  readonly title: string;
  /** The address of today. */
  readonly url: string;
  /** Changes the last part of the address. @throws Problem */
  readonly save: (viewId: string) => Promise<unknown>;
  readonly close: () => void;
}

/** Chooses the last part of an address, which can then be read and remembered. */
export function AddressDialog({ title, url, save, close }: Props) {
  const end = url.lastIndexOf('/') + 1;
  const small = useSmallForm(
    { viewId: url.slice(end) },
    async ({ viewId }) => {
      await save(viewId.trim());
      close();
    },
    ({ fieldErrors: faults, message }): Record<string, string> => (faults.length === 0 ? { viewId: message } : {}),
  );
  return (
    <Dialog onClose={close} title={title}>
      <SmallFormFields of={small} saveLabel="Change the address" cancel={close}>
        <TextInput
          label="Address"
          description={`${url.slice(0, end)}…, letters, digits, - and _`}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...small.form.getInputProps('viewId')}
        />
        <Text size="sm" c="dimmed">
          The old address stops at once. An address that can be guessed is found by strangers: without sign-in it needs at least 8
          characters.
        </Text>
      </SmallFormFields>
    </Dialog>
  );
}
