import { Text, TextInput } from '@mantine/core';
import { Dialog } from './dialog.tsx';
import { SmallFormFields, useSmallForm } from './small-form.tsx';

interface Props {
  readonly title: string;
  /** The current address. */
  readonly url: string;
  /** Explains the consequences of a new address. */
  readonly note: string;
  /** Changes the last part of the address. @throws Problem */
  readonly save: (viewId: string) => Promise<unknown>;
  readonly close: () => void;
}

/** Lets an operator choose the last part of an address, so that the address is easy to read and remember. */
export function AddressDialog({ title, url, note, save, close }: Props) {
  const end = url.lastIndexOf('/') + 1;
  const smallForm = useSmallForm(
    { viewId: url.slice(end) },
    async ({ viewId }) => {
      await save(viewId.trim());
      close();
    },
    ({ fieldErrors, message }): Record<string, string> => (fieldErrors.length === 0 ? { viewId: message } : {}),
  );
  return (
    <Dialog onClose={close} title={title}>
      <SmallFormFields smallForm={smallForm} saveLabel="Change address" cancel={close}>
        <TextInput
          label="Address"
          description={`${url.slice(0, end)}… Use letters, digits, - and _.`}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...smallForm.form.getInputProps('viewId')}
        />
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      </SmallFormFields>
    </Dialog>
  );
}
