import { Alert, TextInput } from '@mantine/core';
import { useState } from 'react';
import { post } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';

/** Sends a test mail, and shows whether the mail server accepted it, or why the mail was not sent. */
export function TestMailDialog({ close }: { close: () => void }) {
  const [result, setResult] = useState<{ readonly works: boolean; readonly detail: string } | null>(null);
  const smallForm = useSmallForm({ to: '' }, async ({ to }) => {
    setResult(null);
    setResult(await post('mail/test', { to }));
  });
  return (
    <Dialog onClose={close} title="Send test e-mail">
      <SmallFormFields smallForm={smallForm} saveLabel="Send" cancel={close}>
        <TextInput label="Recipient" type="email" placeholder="you@example.com" data-autofocus {...smallForm.form.getInputProps('to')} />
        {result && (
          <Alert
            color={result.works ? 'green' : 'red'}
            role="status"
            title={result.works ? 'The mail server has accepted the e-mail' : 'The e-mail was not sent'}
          >
            {result.works ? 'If it does not arrive, check the spam folder.' : result.detail}
          </Alert>
        )}
      </SmallFormFields>
    </Dialog>
  );
}
