import { Text } from '@mantine/core';
import { Dialog } from '#console/components/dialog.tsx';
import { showMessage } from '#console/components/show-message.tsx';
import type { Operator } from '#core/records/operator.ts';
import { OperatorPasswordForm } from './operator-password-form.tsx';

export function OperatorPasswordDialog({ operator: { id, name }, own, close }: { operator: Operator; own: boolean; close: () => void }) {
  const finish = () => {
    showMessage({ text: `${name} has a new password.` });
    close();
  };
  return (
    <Dialog onClose={close} title={`Set password of ${name}`}>
      <Text c="dimmed" size="sm" mb="md">
        All sessions of {name} end at once.
      </Text>
      <OperatorPasswordForm id={id} own={own} onSaved={finish} cancel={close} />
    </Dialog>
  );
}
