import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { callerQuery } from '#console/api/session.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { Section } from '#console/components/section.tsx';
import { SecondFactorSection } from '#console/second-factor/second-factor-section.tsx';
import { useCaller } from '#console/shell/caller.ts';
import { OperatorPasswordForm } from './operator-password-form.tsx';
import { ProviderSection } from './provider-section.tsx';

export function AccountPage() {
  const { id, name, role, tenantTitle, byProvider } = useCaller();
  const client = useQueryClient();
  return (
    <>
      <PageHead title="Your account" lead={`${name}, ${role} of ${tenantTitle}`} />
      <ProviderSection />
      {!byProvider && (
        <>
          <Section title="Password" lead="When you set a new password, you are signed out everywhere, including here.">
            <OperatorPasswordForm id={id} own onSaved={() => client.setQueryData(callerQuery.queryKey, null)} />
            <Text size="sm" c="dimmed">
              To change your name or role, ask an admin. Admins can change both under Settings, Operators.
            </Text>
          </Section>
          <SecondFactorSection />
        </>
      )}
    </>
  );
}
