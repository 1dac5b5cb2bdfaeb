import { Checkbox, Select, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { QuotaFields } from '#console/components/quota-fields.tsx';
import { SecretInput } from '#console/components/secret-input.tsx';
import { Section } from '#console/components/section.tsx';
import { AzureFields } from './azure-fields.tsx';
import type { LocationValues } from './location-values.ts';
import { SftpFields } from './sftp-fields.tsx';
import { WebdavFields } from './webdav-fields.tsx';

interface Props {
  readonly form: UseFormReturnType<LocationValues>;
}

const kindNames: Readonly<Record<string, string>> = {
  local: 'Folder on this server',
  s3: 'Amazon S3 or compatible',
  azure: 'Azure Blob Storage',
  sftp: 'SFTP server',
  webdav: 'WebDAV server',
};

export const storageKindName = (kind: string) => kindNames[kind] ?? kind;

const Local = ({ form }: Props) => (
  <>
    <TextInput label={storageKindName('local')} placeholder="/srv/files" required withAsterisk={false} {...form.getInputProps('path')} />
    <Text size="sm" c="dimmed">
      Tenant 1 can use the folder “files” in POSTERN_DATA. To allow other folders, set POSTERN_LOCAL_ROOTS (for example 1:/srv/files) on the
      server, then restart Postern.
    </Text>
  </>
);

const S3 = ({ form }: Props) => (
  <>
    <TextInput label="Bucket" placeholder="reports" required withAsterisk={false} {...form.getInputProps('bucket')} />
    <TextInput label="Region" placeholder="eu-central-1" required withAsterisk={false} {...form.getInputProps('region')} />
    <TextInput
      label="Address of the service"
      description="Leave empty for Amazon S3. For a service in a private network, the setting POSTERN_PRIVATE_TARGETS must include its address."
      placeholder="https://s3.example.com"
      {...form.getInputProps('endpoint')}
    />
    <TextInput
      label="Address of the service for browsers"
      description="Where visitors download from, if a share lets the storage send its files (proxyMode: false). Leave empty if browsers use the address above, too."
      placeholder="https://files.example.com"
      {...form.getInputProps('publicEndpoint')}
    />
    <Checkbox
      label="Bucket in the path"
      description="For services that do not accept the bucket as part of the host name, such as MinIO and Ceph."
      {...form.getInputProps('pathStyle', { type: 'checkbox' })}
    />
    <TextInput
      label="Folder in the bucket"
      description="The root of the location. Leave empty to use the entire bucket."
      placeholder="reports/2026"
      {...form.getInputProps('prefix')}
    />
    <Checkbox
      label="Use the role of this machine"
      description="Instead of an access key, on a machine at Amazon (EC2 or ECS). POSTERN_MACHINE_CREDENTIALS on the server must list your tenant to allow this."
      {...form.getInputProps('useMachineCredentials', { type: 'checkbox' })}
    />
    {!form.values.useMachineCredentials && (
      <>
        <TextInput label="Access key ID" autoComplete="off" required withAsterisk={false} {...form.getInputProps('accessKeyId')} />
        <SecretInput label="Secret access key" required withAsterisk={false} {...form.getInputProps('secretAccessKey')} />
        <SecretInput label="Session token" placeholder="Only for temporary access keys" {...form.getInputProps('sessionToken')} />
      </>
    )}
  </>
);

const fieldsByKind: Readonly<Record<string, (props: Props) => ReactNode>> = {
  local: Local,
  s3: S3,
  azure: AzureFields,
  sftp: SftpFields,
  webdav: WebdavFields,
};

/** The fields of a location. @param isNew the kind can be chosen */
export function LocationFields({ form, isNew = false }: Props & { readonly isNew?: boolean }) {
  return (
    <>
      <StorageFields form={form} isNew={isNew} />
      <Section title="Quota" lead="How much the location may hold. Uploads beyond it are refused.">
        <QuotaFields inputProps={form.getInputProps} />
      </Section>
    </>
  );
}

function StorageFields({ form, isNew }: Props & { readonly isNew: boolean }) {
  const Fields = fieldsByKind[form.values.kind];
  return (
    <Section
      title="Where files are stored"
      lead="A share publishes one path of a location. Visitors cannot reach anything outside of that path."
    >
      <TextInput label="Name" required withAsterisk={false} {...form.getInputProps('name')} />
      {isNew && (
        <Select
          label="Kind of storage"
          data={Object.entries(kindNames).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('kind')}
        />
      )}
      {Fields && <Fields form={form} />}
    </Section>
  );
}
