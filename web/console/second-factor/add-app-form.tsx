import { Anchor, Code, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { post } from '#console/api/call.ts';
import { QrCode } from '#console/components/qr-code.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { LoadError } from '#console/shell/load-error.tsx';
import { CurrentPasswordField, currentPasswordErrors } from './current-password-field.tsx';
import { type NewFactorProps, useNewFactor } from './new-factor.tsx';

/** Adds an authenticator app. If the operator had no second factor before, shows the recovery codes. */
export function AddAppForm(props: NewFactorProps) {
  const { finish, shownCodes } = useNewFactor(props);
  const {
    data: newTotp,
    error,
    refetch,
  } = useQuery({
    ...{ queryKey: ['new-totp'], queryFn: () => post('operator/prepareTotp', {}) },
    ...{ staleTime: Number.POSITIVE_INFINITY, gcTime: 0 }, // each form has its own secret
  });
  const smallForm = useSmallForm(
    { code: '', title: 'Authenticator app', currentPassword: '' },
    async (values) => {
      const { recoveryCodes } = await post('operator/addTotp', { secret: newTotp?.secret ?? '', ...values });
      finish(recoveryCodes);
    },
    currentPasswordErrors,
  );
  const { form } = smallForm;
  if (shownCodes) return shownCodes;
  if (!newTotp && error) return <LoadError error={error} reset={() => void refetch()} />;
  if (!newTotp) return <Skeleton height={320} />;
  return (
    <SmallFormFields smallForm={smallForm} saveLabel="Add app" cancel={props.cancel}>
      <Text>Scan this QR code with an authenticator app on your phone, and enter the six digits that the app then shows.</Text>
      <Group align="center" gap="lg">
        <QrCode text={newTotp.uri} label="QR code for the authenticator app" />
        <Stack gap={4} flex="1 1 12rem">
          <Text size="sm" c="dimmed">
            No camera? Enter this key in the app:
          </Text>
          <Code className="totp-secret">{newTotp.secret.match(/.{4}/g)?.join(' ')}</Code>
          <Anchor size="sm" href={newTotp.uri}>
            Open in an app on this device
          </Anchor>
        </Stack>
      </Group>
      <TextInput
        label="Six-digit code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        withAsterisk={false}
        data-autofocus
        {...form.getInputProps('code')}
      />
      <TextInput label="Name of the app" description="Helps you recognize it in the list." {...form.getInputProps('title')} />
      <CurrentPasswordField {...form.getInputProps('currentPassword')} />
    </SmallFormFields>
  );
}
