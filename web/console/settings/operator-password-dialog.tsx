import { Modal, Text } from '@mantine/core';
import { told } from '#console/records/told.tsx';
import type { Operator } from '#core/records/operator.ts';
import { OperatorPasswordForm } from './operator-password-form.tsx';

/** Sets another operator's password. */
export function OperatorPasswordDialog({ operator: { id, name }, close }: { operator: Operator; close: () => void }) {
  const saved = () => {
    told({ words: `${name} has a new password.` });
    close();
  };
  return (
    <Modal opened onClose={close} title={`Password of ${name}`} centered>
      <Text c="dimmed" size="sm" mb="md">
        Wherever {name} is signed in, the session ends.
      </Text>
      <OperatorPasswordForm id={id} own={false} onSaved={saved} cancel={close} />
    </Modal>
  );
}
