import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { linkProvider, signInMethodsQuery } from '#console/api/session.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { Section } from '#console/components/section.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { CurrentPasswordField, currentPasswordErrors } from '#console/second-factor/current-password-field.tsx';
import { useCaller } from '#console/shell/caller.ts';
import { firstTenant } from '#core/records/tenant.ts';

/** Asks for the password, and goes to the provider. */
function ConnectDialog({ provider, close }: { readonly provider: string; readonly close: () => void }) {
  const smallForm = useSmallForm(
    { currentPassword: '' },
    async ({ currentPassword }) => {
      location.assign((await linkProvider({ currentPassword })).url);
      await new Promise(() => {}); // the form stays busy until the browser leaves
    },
    currentPasswordErrors,
  );
  return (
    <Dialog onClose={close} title={`Connect with ${provider}`}>
      <SmallFormFields smallForm={smallForm} saveLabel="Continue" cancel={close}>
        <Text>
          Next, you sign in at {provider}. After that, you can sign in to this console at {provider}.
        </Text>
        <CurrentPasswordField data-autofocus {...smallForm.form.getInputProps('currentPassword')} />
      </SmallFormFields>
    </Dialog>
  );
}

/** Connects the signed-in operator to a user of the provider. Shown only in tenant 1, if a provider is configured. */
export function ProviderSection() {
  const { tid, byProvider, signsInAtProvider } = useCaller();
  const { data } = useQuery(signInMethodsQuery);
  const [isOpen, setIsOpen] = useState(false);
  const provider = data?.provider;
  if (!provider || tid !== firstTenant) return null;
  return (
    <Section title="Identity provider" lead={`With a connected account, you can sign in at ${provider} instead of with your password.`}>
      {byProvider ? (
        <Text>
          You have signed in at {provider}. The password and second factor that you used are managed there. If your account also has a
          password here, sign in with that password to change it.
        </Text>
      ) : (
        <Group>
          {signsInAtProvider && <Text>Your account is connected to a user of {provider}.</Text>}
          <Button variant="default" onClick={() => setIsOpen(true)}>
            {signsInAtProvider ? 'Connect with another user' : `Connect with ${provider}`}
          </Button>
        </Group>
      )}
      {isOpen && <ConnectDialog provider={provider} close={() => setIsOpen(false)} />}
    </Section>
  );
}
