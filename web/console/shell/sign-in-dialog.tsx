import { Modal, Text } from '@mantine/core';
import type { CallerRecord } from '#core/records/operator.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Over the page: the session has ended, what was typed is still there. */
export function SignInDialog({ who }: { who: CallerRecord }) {
  return (
    <Modal opened onClose={() => {}} withCloseButton={false} title="Your session has ended" centered>
      <Text mb="md">Sign in again and go on where you were.</Text>
      <SignInForm fixed={who} />
    </Modal>
  );
}
