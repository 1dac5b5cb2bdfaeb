import { Alert, Button, Checkbox, FileButton, Select, Textarea, TextInput } from '@mantine/core';
import { Choice } from './choice.tsx';
import { PresetSelect } from './preset-select.tsx';
import type { ProfileFormReturn } from './profile-form-return.ts';
import { samlPresets } from './saml-presets.ts';

interface Props {
  readonly form: ProfileFormReturn;
}

const MetadataFile = ({ form }: Props) => (
  <>
    <FileButton
      accept=".xml,text/xml,application/xml"
      onChange={(file) => void file?.text().then((text) => form.setFieldValue('metadata', text))}
    >
      {(props) => (
        <Button variant="default" w="fit-content" {...props}>
          Choose metadata file
        </Button>
      )}
    </FileButton>
    <Textarea
      label="Metadata"
      description="The file that the provider offers for download. When the provider changes its certificate, replace the metadata here."
      autosize
      minRows={4}
      maxRows={12}
      {...form.getInputProps('metadata')}
    />
  </>
);

const Manual = ({ form }: Props) => (
  <>
    <TextInput label="Sign-in address" placeholder="https://login.example.com/sso" {...form.getInputProps('entryPoint')} />
    <Textarea
      label="Certificates"
      description="In PEM. Before the provider changes its certificate, add the new one below the old one."
      autosize
      minRows={4}
      maxRows={12}
      {...form.getInputProps('certificates')}
    />
  </>
);

/** The fields that describe the provider. */
function Provider({ form }: Props) {
  const by = form.values.samlSource;
  return (
    <>
      <Choice
        label="Provider metadata"
        data={[
          { value: 'metadataUrl', label: 'From a URL' },
          { value: 'metadata', label: 'From a file' },
          { value: 'manual', label: 'Enter manually' },
        ]}
        {...form.getInputProps('samlSource')}
      />
      {by === 'metadataUrl' && (
        <TextInput
          label="Metadata address"
          description="Postern reads the metadata every day, so that a new certificate of the provider needs no change here."
          placeholder="https://login.example.com/metadata"
          {...form.getInputProps('metadataUrl')}
        />
      )}
      {by === 'metadata' && <MetadataFile form={form} />}
      {by === 'manual' && <Manual form={form} />}
      <TextInput
        label="Entity ID of the provider"
        description={
          by === 'manual' ? 'The provider calls it entity ID or issuer.' : 'Only needed if the metadata describes several providers.'
        }
        {...form.getInputProps('entityId')}
      />
    </>
  );
}

const Attributes = ({ form }: Props) => (
  <>
    <TextInput
      label="User name attribute"
      description="Shares can list users by its value, besides the NameID. Choose an attribute that users cannot change themselves."
      {...form.getInputProps('usernameAttribute')}
    />
    <TextInput
      label="E-mail attribute"
      description="If empty: the NameID, if its format is emailAddress."
      {...form.getInputProps('emailAttribute')}
    />
    <Select
      label="Accepted e-mail addresses"
      description="SAML does not say whether an address is verified."
      data={[
        { value: 'verified', label: 'None: shares cannot list users by the e-mail attribute' },
        { value: 'provider', label: 'The addresses that the provider sends' },
      ]}
      allowDeselect={false}
      {...form.getInputProps('emailTrust')}
    />
    {form.values.emailTrust === 'provider' && (
      <Alert color="accent">Choose this only if users cannot enter another person's address at the provider.</Alert>
    )}
    <TextInput
      label="Display name attribute"
      description="If empty: displayName, the attribute that Microsoft Entra ID or LDAP uses for the name, or the NameID."
      {...form.getInputProps('nameAttribute')}
    />
    <TextInput
      label="Groups attribute"
      description="Attribute with the groups of a user, so that shares can list groups."
      placeholder="groups"
      {...form.getInputProps('groupsAttribute')}
    />
    <TextInput
      label="Required group"
      description="Only users in this group can sign in. Leave empty to admit all users of the provider."
      {...form.getInputProps('requireGroup')}
    />
  </>
);

/** The fields of a SAML profile. */
export function SamlFields({ form }: Props) {
  const { metadataUrl, metadata, entryPoint } = form.values;
  return (
    <>
      {`${metadataUrl}${metadata}${entryPoint}` === '' && <PresetSelect form={form} label="Provider" presets={samlPresets} />}
      <Provider form={form} />
      <Attributes form={form} />
      <Checkbox
        label="Allow sign-in that starts at the provider"
        description="Such a sign-in leads to the portal of the profile. Turn this on only if your users start from a page of the provider."
        {...form.getInputProps('idpInitiated', { type: 'checkbox' })}
      />
    </>
  );
}
