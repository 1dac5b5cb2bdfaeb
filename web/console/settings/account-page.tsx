import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { callerQuery } from '#console/api/session.ts';
import { PageHead } from '#console/records/page-head.tsx';
import { Section } from '#console/records/section.tsx';
import { useCaller } from '#console/shell/who.ts';
import { OperatorPasswordForm } from './operator-password-form.tsx';

/** The operator's own account. */
export function AccountPage() {
  const { id, name, role, tenantTitle } = useCaller();
  const client = useQueryClient();
  return (
    <>
      <PageHead title="Your account" lead={`${name}, ${role} of ${tenantTitle}`} />
      <Section title="Password" lead="With a new one you are signed out everywhere, here too.">
        <OperatorPasswordForm id={id} own onSaved={() => client.setQueryData(callerQuery.queryKey, null)} />
        <Text size="sm" c="dimmed">
          An admin changes your name and your role under Settings.
        </Text>
      </Section>
    </>
  );
}
