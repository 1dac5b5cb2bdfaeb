import { Paper, Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { get } from '#console/api/call.ts';
import { RelativeTime } from '#console/components/times.tsx';
import { DeliveryStateLabel, mailKindLabels } from '#console/settings/delivery-labels.tsx';
import type { Delivery } from '#core/records/mail.ts';
import type { Share } from '#core/records/share.ts';

const maxRows = 20;
const refreshInterval = 3000; // ms, while a mail is on its way

const isOnItsWay = ({ state }: Delivery) => state === 'waiting' || state === 'sending';

/** The newest mails about a share, with the state of each. Shows nothing if there are none. */
export function MailsPanel({ share: { id } }: { share: Share }) {
  const { data } = useQuery({
    queryKey: ['mail', 'of share', id],
    queryFn: ({ signal }) => get('mail/deliveries', { shareId: id, pageSize: maxRows, sortField: 'id', sortOrder: 'desc' }, signal),
    refetchInterval: ({ state }) => (state.data?.list.some(isOnItsWay) ? refreshInterval : false),
  });
  if (!data || data.list.length === 0) return null;
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="share-mails">
      <Title order={2} size="h4" id="share-mails">
        E-mails
      </Title>
      <Table.ScrollContainer minWidth={300}>
        <Table
          data={{
            head: ['Recipient', 'E-mail', 'State', 'Created'],
            body: data.list.map((delivery) => [
              delivery.recipient || '–',
              mailKindLabels[delivery.kind],
              <DeliveryStateLabel key="state" delivery={delivery} />,
              <RelativeTime key="created" at={delivery.createDateTime} />,
            ]),
          }}
        />
      </Table.ScrollContainer>
    </Paper>
  );
}
