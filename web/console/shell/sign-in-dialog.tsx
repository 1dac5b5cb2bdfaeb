import { Modal, Text } from '@mantine/core';
import type { CallerRecord } from '#core/records/operator.ts';
import { ProviderButton } from './provider-button.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Asks for sign-in over the page when the session has ended. Unsaved input stays. */
export function SignInDialog({ caller }: { caller: CallerRecord }) {
  return (
    <Modal opened onClose={() => {}} withCloseButton={false} title="Your session has ended" centered>
      <Text mb="md">Sign in again to continue. Your input is still here.</Text>
      {caller.byProvider ? <ProviderButton opensTab /> : null}
      <SignInForm caller={caller} />
    </Modal>
  );
}
