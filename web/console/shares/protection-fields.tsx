import { Alert, Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

/** What is drawn into files before they are handed out, and what is not handed out at all. */
export function ProtectionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { copyProtect, waterMarkText, digitalSignature } = form.values;
  return (
    <>
      {(copyProtect || waterMarkText !== '' || digitalSignature) && (
        <Alert color="red" title="Not available yet">
          Marking and signing are not built yet. Until they are, files that would have to be marked or signed are not handed out at all.
        </Alert>
      )}
      <Checkbox
        label="Copy protection"
        description="Pages are shown marked; the original is never handed out."
        {...form.getInputProps('copyProtect', { type: 'checkbox' })}
      />
      <TextInput label="Watermark" description="{user}, {email}, {ip} and {date} are filled in." {...form.getInputProps('waterMarkText')} />
      <Checkbox label="Sign PDF files that are downloaded" {...form.getInputProps('digitalSignature', { type: 'checkbox' })} />
      {digitalSignature && <TextInput label="Reason given in the signature" {...form.getInputProps('digitalSignReason')} />}
    </>
  );
}
