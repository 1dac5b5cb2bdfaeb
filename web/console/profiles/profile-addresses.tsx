import { Anchor, Group } from '@mantine/core';
import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyField } from '#console/components/copy-field.tsx';
import type { LoginProfile } from '#core/records/login-profile.ts';

/** A field with its button, which is below the field on a phone. */
const CopyRow = ({ children }: { readonly children: ReactNode }) => (
  <Group align="end" gap="xs" mt="sm">
    {children}
  </Group>
);

export function PortalAddress({ profile: { viewUrl } }: { profile: LoginProfile }) {
  return (
    <>
      <CopyRow>
        <CopyField
          label="Portal"
          description="Visitors who sign in here see all shares that they have access to."
          value={viewUrl}
          copyLabel="Copy address"
        />
      </CopyRow>
      <Anchor href={viewUrl} target="_blank" rel="noreferrer" className="with-icon" mt="xs">
        <ExternalLink size={16} aria-hidden /> Open as visitor
      </Anchor>
    </>
  );
}

/** The address that an OpenID provider needs. */
export function RedirectAddress({ profile: { id, viewUrl } }: { profile: LoginProfile }) {
  return (
    <CopyRow>
      <CopyField
        label="Redirect URI"
        description="Enter this address at the provider, which calls it redirect URI or callback URL."
        value={new URL(`/sign-in/oidc/${id}`, viewUrl).href}
        copyLabel="Copy redirect URI"
      />
    </CopyRow>
  );
}

/** The addresses that a SAML provider needs. */
export function ServiceProviderAddresses({ profile: { id, viewUrl } }: { profile: LoginProfile }) {
  const acsUrl = new URL(`/sign-in/saml/${id}`, viewUrl).href;
  return (
    <>
      <CopyRow>
        <CopyField
          label="Metadata and entity ID of this profile"
          description="Some providers read the metadata at this address. At other providers, enter this address as entity ID, audience or identifier."
          value={`${acsUrl}/metadata`}
          copyLabel="Copy entity ID"
        />
      </CopyRow>
      <CopyRow>
        <CopyField
          label="Reply URL (ACS URL)"
          description="Enter this address at the provider, which calls it reply URL, ACS URL or single sign-on URL."
          value={acsUrl}
          copyLabel="Copy reply URL"
        />
      </CopyRow>
    </>
  );
}
