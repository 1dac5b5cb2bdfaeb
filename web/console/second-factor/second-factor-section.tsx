import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { get, post, remove } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { formatCount } from '#console/components/format.ts';
import { Section } from '#console/components/section.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { LoadError } from '#console/shell/load-error.tsx';
import { AddAppForm } from './add-app-form.tsx';
import { AddPasskeyForm } from './add-passkey-form.tsx';
import { CurrentPasswordField, currentPasswordErrors } from './current-password-field.tsx';
import { canUsePasskeys } from './passkeys.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

const secondFactorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: ({ signal }) => get('operator/getSecondFactors', {}, signal),
});

type OpenDialog =
  | { readonly what: 'app' | 'passkey' | 'codes' }
  | { readonly what: 'remove'; readonly id: number; readonly title: string }
  | null;

/** Asks for the password, and removes a second factor. */
function RemoveDialog({ id, title, close }: { id: number; title: string; close: () => void }) {
  const client = useQueryClient();
  const smallForm = useSmallForm(
    { currentPassword: '' },
    async (values) => {
      await remove('operator/deleteSecondFactor', { id, ...values });
      await client.invalidateQueries({ queryKey: secondFactorsQuery.queryKey });
      close();
    },
    currentPasswordErrors,
  );
  return (
    <Dialog onClose={close} title={`Remove ${title}`}>
      <SmallFormFields smallForm={smallForm} saveLabel="Remove" cancel={close}>
        <CurrentPasswordField data-autofocus {...smallForm.form.getInputProps('currentPassword')} />
      </SmallFormFields>
    </Dialog>
  );
}

/** Asks for the password, and shows new recovery codes. */
function CodesDialog({ close }: { close: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const smallForm = useSmallForm(
    { currentPassword: '' },
    async (values) => setCodes((await post('operator/renewRecoveryCodes', values)).recoveryCodes ?? []),
    currentPasswordErrors,
  );
  return (
    <Dialog onClose={close} title="New recovery codes" closeOnEscape={codes === null} withCloseButton={codes === null}>
      {codes ? (
        <RecoveryCodes codes={codes} done={close} />
      ) : (
        <SmallFormFields smallForm={smallForm} saveLabel="Create codes" cancel={close}>
          <Text>Your old recovery codes will no longer work.</Text>
          <CurrentPasswordField data-autofocus {...smallForm.form.getInputProps('currentPassword')} />
        </SmallFormFields>
      )}
    </Dialog>
  );
}

export function SecondFactorSection() {
  const client = useQueryClient();
  const [dialog, open] = useState<OpenDialog>(null);
  const { data, error, refetch } = useQuery(secondFactorsQuery);
  /** Whether the dialog that adds an app or a passkey shows new recovery codes. Then only the button below the codes closes the dialog. */
  const [showsCodes, setShowsCodes] = useState(false);
  const close = () => {
    open(null);
    setShowsCodes(false);
    void client.invalidateQueries({ queryKey: secondFactorsQuery.queryKey });
  };
  return (
    <Section
      title="Second factor"
      lead="With a second factor, sign-in needs your password and also a passkey or a code from your phone. A stolen password alone is then not enough."
    >
      {!data && (error ? <LoadError error={error} reset={() => void refetch()} /> : <Skeleton height={80} />)}
      {data && (
        <Stack>
          {data.list.map(({ id, kind, title, lastUseDateTime }) => (
            <Group key={id} justify="space-between">
              <Group gap="xs">
                {kind === 'passkey' ? <KeyRound size={18} aria-hidden /> : <ShieldCheck size={18} aria-hidden />}
                <Text fw={550}>{title}</Text>
                <Text size="sm" c="dimmed">
                  last used: <RelativeTime at={lastUseDateTime} />
                </Text>
              </Group>
              <Button
                variant="default"
                size="compact-sm"
                disabled={data.required && data.list.length === 1}
                onClick={() => open({ what: 'remove', id, title })}
                aria-label={`Remove ${title}`}
              >
                Remove
              </Button>
            </Group>
          ))}
          {data.required && data.list.length === 1 && (
            <Text size="sm" c="dimmed">
              Your organization requires a second factor. To replace this one, add the new one first.
            </Text>
          )}
          <Group>
            <Button variant="default" onClick={() => open({ what: 'app' })}>
              Add authenticator app
            </Button>
            <Button variant="default" disabled={!canUsePasskeys()} onClick={() => open({ what: 'passkey' })}>
              Add passkey
            </Button>
            {data.list.length > 0 && (
              <Button variant="default" onClick={() => open({ what: 'codes' })}>
                Create new recovery codes
              </Button>
            )}
          </Group>
          {data.list.length > 0 && (
            <Text size="sm" c="dimmed">
              {formatCount(data.recoveryCodesLeft, 'recovery code', 'recovery codes')} left.
            </Text>
          )}
          {!canUsePasskeys() && (
            <Text size="sm" c="dimmed">
              Passkeys work only in a current browser, and only if you open the console over https with a host name, such as
              https://files.example.com, or at localhost.
            </Text>
          )}
        </Stack>
      )}
      {dialog?.what === 'app' && (
        <Dialog onClose={close} title="Add authenticator app" closeOnEscape={!showsCodes} withCloseButton={!showsCodes}>
          <AddAppForm onAdded={close} onCodes={() => setShowsCodes(true)} cancel={close} />
        </Dialog>
      )}
      {dialog?.what === 'passkey' && (
        <Dialog onClose={close} title="Add passkey" closeOnEscape={!showsCodes} withCloseButton={!showsCodes}>
          <AddPasskeyForm onAdded={close} onCodes={() => setShowsCodes(true)} cancel={close} />
        </Dialog>
      )}
      {dialog?.what === 'codes' && <CodesDialog close={close} />}
      {dialog?.what === 'remove' && <RemoveDialog id={dialog.id} title={dialog.title} close={close} />}
    </Section>
  );
}
