import { Button, Group, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

/** Letters and digits that are not easily confused when read aloud or from paper. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** Returns a random password such as `k3hd-9wpx-…`, with about 79 bits. */
function generatePassword(): string {
  const limit = 256 - (256 % letters.length); // bytes from here on are rejected, as they would make some letters more likely
  let text = '';
  while (text.length < groups * groupLength) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < limit) text += letters[byte % letters.length];
  }
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** The password for this link only. It is visible, because the operator has to send it to visitors. */
export function LinkPasswordField({ form }: { form: UseFormReturnType<ShareValues> }) {
  return (
    <Group align="end" gap="xs" wrap="nowrap">
      <TextInput
        style={{ flexGrow: 1 }}
        label="Password for this link"
        description="At least 10 characters. Copy it now: it is not shown again. Do not send it together with the link."
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('linkPassword')}
      />
      <Button variant="default" onClick={() => form.setFieldValue('linkPassword', generatePassword())}>
        Generate
      </Button>
    </Group>
  );
}
