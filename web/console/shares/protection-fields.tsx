import { Alert, Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ShareValues } from './share-values.ts';

export function ProtectionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { copyProtect, waterMarkText, digitalSignature } = form.values;
  return (
    <>
      {(copyProtect || waterMarkText !== '' || digitalSignature) && (
        <Alert color="red" title="Not available yet">
          Postern cannot watermark or sign files yet. Until then, files with copy protection or a watermark cannot be opened or downloaded,
          and PDF files that must be signed cannot be downloaded.
        </Alert>
      )}
      <Checkbox
        label="Copy protection"
        description="Visitors see watermarked pages and never get the original file."
        {...form.getInputProps('copyProtect', { type: 'checkbox' })}
      />
      <TextInput label="Watermark" description="You can use {user}, {email}, {ip} and {date}." {...form.getInputProps('waterMarkText')} />
      <Checkbox label="Sign PDF files when they are downloaded" {...form.getInputProps('digitalSignature', { type: 'checkbox' })} />
      {digitalSignature && <TextInput label="Reason in the signature" {...form.getInputProps('digitalSignReason')} />}
    </>
  );
}
