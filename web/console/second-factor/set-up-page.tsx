import { Anchor, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callerQuery } from '#console/api/session.ts';
import { CardPage } from '#console/shell/card-page.tsx';
import { AddAppForm } from './add-app-form.tsx';
import { AddPasskeyForm } from './add-passkey-form.tsx';
import { canUsePasskeys } from './passkeys.ts';

/** The page of an operator who must add a second factor before anything else. */
export function SetUpPage() {
  const client = useQueryClient();
  const [byPasskey, setByPasskey] = useState(false);
  const [showsCodes, setShowsCodes] = useState(false);
  const Form = byPasskey ? AddPasskeyForm : AddAppForm;
  return (
    <CardPage title="Set up a second factor" lead="Your organization requires it for operators who sign in with a password.">
      <Stack>
        <Form onAdded={() => void client.invalidateQueries({ queryKey: callerQuery.queryKey })} onCodes={() => setShowsCodes(true)} />
        {canUsePasskeys() && !showsCodes && (
          <Anchor component="button" type="button" ta="center" onClick={() => setByPasskey(!byPasskey)}>
            {byPasskey ? 'Use an authenticator app instead' : 'Use a passkey instead'}
          </Anchor>
        )}
      </Stack>
    </CardPage>
  );
}
