import { Text } from '@mantine/core';
import { Dialog } from '#console/records/dialog.tsx';
import { showMessage } from '#console/records/told.tsx';
import type { Operator } from '#core/records/operator.ts';
import { OperatorPasswordForm } from './operator-password-form.tsx';

/** Sets another operator's password. */
export function OperatorPasswordDialog({ operator: { id, name }, own, close }: { operator: Operator; own: boolean; close: () => void }) {
  const saved = () => {
    showMessage({ words: `${name} has a new password.` });
    close();
  };
  return (
    <Dialog onClose={close} title={`Password of ${name}`}>
      <Text c="dimmed" size="sm" mb="md">
        Wherever {name} is signed in, the session ends.
      </Text>
      <OperatorPasswordForm id={id} own={own} onSaved={saved} cancel={close} />
    </Dialog>
  );
}
