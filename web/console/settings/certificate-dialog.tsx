import { FileInput, Select, TextInput } from '@mantine/core';
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
  /** Ids of the keys in the PKCS #11 token of the server that may be used. */
  readonly tokenKeyIds: readonly string[];
  readonly onSaved: () => Promise<unknown>;
  readonly close: () => void;
}

interface CertificateValues extends Record<string, unknown> {
  readonly certificate: File | null;
  readonly password: string;
  /** null: the key is in the file. */
  readonly tokenKeyId: string | null;
  readonly timestampUrl: string;
}

/** Stores a certificate, or changes only the address of the time-stamp authority. */
export function CertificateDialog({ timestampUrl, isStored, tokenKeyIds, onSaved, close }: Props) {
  const initial: CertificateValues = { certificate: null, password: '', tokenKeyId: null, timestampUrl: timestampUrl ?? '' };
  const smallForm = useSmallForm(initial, async ({ certificate, password, tokenKeyId, timestampUrl: url }) => {
    const secret = tokenKeyId === null ? password : '';
    const file = certificate
      ? { certificate: await base64Of(certificate), password: secret, tokenKeyId }
      : { certificate: secretMask, password: secretMask };
    await post('signature/update', { ...file, timestampUrl: url.trim() });
    await onSaved();
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title={isStored ? 'Change certificate' : 'Upload certificate'}>
      <SmallFormFields smallForm={smallForm} saveLabel="Save" cancel={close}>
        {tokenKeyIds.length > 0 && (
          <Select
            label="Private key"
            placeholder="In the certificate file"
            data={tokenKeyIds.map((id) => ({ value: id, label: `Key ${id} of the PKCS #11 token` }))}
            clearable
            clearButtonProps={{ 'aria-label': 'Key in the certificate file' }}
            {...form.getInputProps('tokenKeyId')}
          />
        )}
        <FileInput
          label="Certificate file"
          description={
            form.values.tokenKeyId !== null
              ? 'A .pem file with the certificate of the key, and those of its issuers.'
              : isStored
                ? 'Leave empty to keep the stored certificate.'
                : 'A .p12 or .pfx file with the certificate and its private key.'
          }
          placeholder="Choose a file"
          accept={form.values.tokenKeyId === null ? '.p12,.pfx,application/x-pkcs12' : '.pem,.crt,.cer'}
          required={!isStored || form.values.tokenKeyId !== null}
          clearable
          clearButtonProps={{ 'aria-label': 'No file' }}
          {...form.getInputProps('certificate')}
        />
        {form.values.certificate && form.values.tokenKeyId === null && (
          <SecretInput label="Password of the file" description="Postern does not store it." {...form.getInputProps('password')} />
        )}
        <TextInput
          label="Time-stamp authority"
          description="Optional: the address of an authority that confirms when a file was signed (RFC 3161)."
          placeholder="https://tsa.example.com/"
          type="url"
          {...form.getInputProps('timestampUrl')}
        />
      </SmallFormFields>
    </Dialog>
  );
}
