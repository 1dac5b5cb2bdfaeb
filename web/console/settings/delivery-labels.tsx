import { Text } from '@mantine/core';
import { StateLabel } from '#console/components/state-label.tsx';
import type { Delivery, DeliveryState } from '#core/records/mail.ts';

export const deliveryStateLabels = {
  waiting: ['Waiting', 'waiting'],
  sending: ['Being sent', 'waiting'],
  sent: ['Sent', 'good'],
  failed: ['Failed', 'bad'],
  dropped: ['Dropped', 'inactive'],
  held: ['Held after a restore', 'waiting'],
} as const satisfies Record<DeliveryState, readonly [string, 'good' | 'waiting' | 'inactive' | 'bad']>;

export const mailKindLabels: Readonly<Record<Delivery['kind'], string>> = {
  alert: 'Alert',
  invitation: 'Invitation',
  test: 'Test',
  code: 'Code',
};

export function DeliveryStateLabel({ delivery: { state, error } }: { delivery: Delivery }) {
  const [label, tone] = deliveryStateLabels[state];
  return (
    <>
      <StateLabel tone={tone}>{label}</StateLabel>
      {error !== '' && state !== 'sent' && (
        <Text size="sm" c="dimmed">
          {error}
        </Text>
      )}
    </>
  );
}
