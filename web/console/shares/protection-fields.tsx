import { Alert, Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

export function ProtectionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { digitalSignature } = form.values;
  return (
    <>
      {digitalSignature && (
        <Alert color="red" title="Not available yet">
          Postern cannot sign files yet. Until then, PDF files of this share cannot be downloaded.
        </Alert>
      )}
      <Checkbox
        label="Copy protection"
        description="Visitors see pages with a mark, and never get the original file. A photograph of the screen cannot be prevented."
        {...form.getInputProps('copyProtect', { type: 'checkbox' })}
      />
      <TextInput
        label="Watermark"
        description="Drawn over every page. You can use {user}, {email}, {ip} and {date}."
        {...form.getInputProps('waterMarkText')}
      />
      <Checkbox label="Sign PDF files when they are downloaded" {...form.getInputProps('digitalSignature', { type: 'checkbox' })} />
      {digitalSignature && <TextInput label="Reason in the signature" {...form.getInputProps('digitalSignReason')} />}
    </>
  );
}
