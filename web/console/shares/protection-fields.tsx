import { Anchor, Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import type { ShareValues } from './share-values.ts';

export function ProtectionFields({ form }: { form: UseFormReturnType<ShareValues> }) {
  const { copyProtect, waterMarkText, digitalSignature } = form.values;
  return (
    <>
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
      {(copyProtect || waterMarkText !== '') && (
        <Checkbox
          label="Text for screen readers"
          description="Visitors can also read the text of the pages. They can copy it, without a mark."
          {...form.getInputProps('copyProtectText', { type: 'checkbox' })}
        />
      )}
      <Checkbox
        label="Sign PDF files when they are downloaded"
        description={
          <>
            Needs a certificate: see{' '}
            <Anchor component={Link} to="/settings/signatures" size="xs" underline="always">
              Settings, Signatures
            </Anchor>
            .
          </>
        }
        {...form.getInputProps('digitalSignature', { type: 'checkbox' })}
      />
      {digitalSignature && <TextInput label="Reason in the signature" {...form.getInputProps('digitalSignReason')} />}
    </>
  );
}
