import { Button, Group, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

/** Letters and digits that nobody mistakes for each other, when read aloud or from paper. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** Returns a random password such as `k3hd-9wpx-…`, of some 79 bits. */
function suggestedPassword(): string {
  const limit = 256 - (256 % letters.length); // above, some letters would be likelier than others
  let text = '';
  while (text.length < groups * groupLength) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < limit) text += letters[byte % letters.length];
  }
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** The password that visitors of this link alone sign in by. In plain sight: the operator hands it on. */
export function LinkPasswordField({ form }: { form: UseFormReturnType<ShareValues> }) {
  return (
    <Group align="end" gap="xs" wrap="nowrap">
      <TextInput
        style={{ flexGrow: 1 }}
        label="Password for this link"
        description="At least 10 characters. Send it another way than the link: it is not shown again."
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('linkPassword')}
      />
      <Button variant="default" onClick={() => form.setFieldValue('linkPassword', suggestedPassword())}>
        Suggest
      </Button>
    </Group>
  );
}
