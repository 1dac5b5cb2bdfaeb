import { FileInput, TextInput } from '@mantine/core';
import { post } from '#console/api/call.ts';
import { base64Of } from '#console/components/base64.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { SecretInput } from '#console/components/secret-input.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { secretMask } from '#core/records/login-profile.ts';

interface Props {
  /** The stored address; null: none. */
  readonly timestampUrl: string | null;
  readonly isStored: boolean;
  readonly onSaved: () => Promise<unknown>;
  readonly close: () => void;
}

interface CertificateValues extends Record<string, unknown> {
  readonly certificate: File | null;
  readonly password: string;
  readonly timestampUrl: string;
}

/** Stores a certificate, or changes only the address of the time-stamp authority. */
export function CertificateDialog({ timestampUrl, isStored, onSaved, close }: Props) {
  const initial: CertificateValues = { certificate: null, password: '', timestampUrl: timestampUrl ?? '' };
  const smallForm = useSmallForm(initial, async ({ certificate, password, timestampUrl: url }) => {
    const file = certificate ? { certificate: await base64Of(certificate), password } : { certificate: secretMask, password: secretMask };
    await post('signature/update', { ...file, timestampUrl: url.trim() });
    await onSaved();
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title={isStored ? 'Change certificate' : 'Upload certificate'}>
      <SmallFormFields smallForm={smallForm} saveLabel="Save" cancel={close}>
        <FileInput
          label="Certificate file"
          description={
            isStored ? 'Leave empty to keep the stored certificate.' : 'A .p12 or .pfx file with the certificate and its private key.'
          }
          placeholder="Choose a file"
          accept=".p12,.pfx,application/x-pkcs12"
          required={!isStored}
          clearable
          {...form.getInputProps('certificate')}
        />
        {form.values.certificate && (
          <SecretInput label="Password of the file" description="Postern does not store it." {...form.getInputProps('password')} />
        )}
        <TextInput
          label="Time-stamp authority"
          description="Optional: its address. It confirms when a file was signed (RFC 3161)."
          placeholder="https://tsa.example.com/"
          type="url"
          {...form.getInputProps('timestampUrl')}
        />
      </SmallFormFields>
    </Dialog>
  );
}
