import { Alert, Anchor, Button, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { get, post, type Query } from '#console/api/call.ts';
import type { BulkAction } from '#console/components/bulk.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { useListState } from '#console/components/list-state.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { useOverview } from '#console/overview/use-overview.ts';
import type { Delivery } from '#core/records/mail.ts';
import { DeliveryStateLabel, deliveryStateLabels, mailKindLabels } from './delivery-labels.tsx';
import { SettingsTabs } from './settings-tabs.tsx';
import { TestMailDialog } from './test-mail-dialog.tsx';

const load = (query: Query, signal: AbortSignal) => get('mail/deliveries', query, signal);

const columns: readonly Column<Delivery>[] = [
  { name: 'Recipient', sort: 'recipient', cell: ({ recipient }) => recipient || '–' },
  {
    name: 'E-mail',
    sort: 'kind',
    cell: ({ kind, shareId }) =>
      shareId === null ? (
        mailKindLabels[kind]
      ) : (
        <Anchor component={Link} to={`/shares/${shareId}`}>
          {mailKindLabels[kind]}
        </Anchor>
      ),
  },
  {
    name: 'State',
    sort: 'state',
    cell: (delivery) => <DeliveryStateLabel delivery={delivery} />,
  },
  { name: 'Attempts', sort: 'attempts', cell: ({ attempts }) => attempts },
  { name: 'Created', sort: 'createDateTime', cell: ({ createDateTime }) => <RelativeTime at={createDateTime} /> },
];

const actions: readonly BulkAction<Delivery>[] = [
  {
    name: 'Send again',
    effect: 'will be sent again',
    doneText: 'will be sent again',
    run: ({ id }, options) => post('mail/retry', { id }, options),
  },
  {
    name: 'Drop',
    effect: 'will not be sent',
    doneText: 'dropped',
    destructive: true,
    run: ({ id }, options) => post('mail/drop', { id }, options),
    undo: ({ id }) => post('mail/retry', { id }),
  },
];

const stateChoices = Object.entries(deliveryStateLabels).map(([value, [label]]) => ({ value, label }));

function Filters() {
  const { listState, setListState } = useListState();
  return (
    <Select
      aria-label="State"
      placeholder="Any state"
      clearable
      data={stateChoices}
      value={listState.state ?? null}
      onChange={(state) => setListState({ state: state ?? undefined })}
    />
  );
}

export function MailPage() {
  const { listState } = useListState();
  const [isTesting, setTesting] = useState(false);
  const { data: overview } = useOverview();
  return (
    <>
      <PageHead title="Mail" lead="Alerts, invitations and codes. Sent, failed and dropped ones stay here for 30 days.">
        <Button variant="default" leftSection={<Send size={18} aria-hidden />} onClick={() => setTesting(true)}>
          Send test e-mail
        </Button>
      </PageHead>
      <SettingsTabs at="/settings/mail" />
      {overview?.mail === false && (
        <Alert title="No mail server is configured" mb="md">
          Set POSTERN_SMTP_URL and POSTERN_MAIL_FROM, and restart Postern. Until then, no e-mails are sent.
        </Alert>
      )}
      <RecordList
        kind="mail"
        noun={['e-mail', 'e-mails']}
        columns={columns}
        load={load}
        query={{ state: listState.state }}
        filters={<Filters />}
        actions={actions}
        nameOf={({ recipient }) => recipient}
        searchLabel="Search by recipient"
        empty={<EmptyState title="No e-mails yet" text="E-mails appear here as soon as they are created." />}
      />
      {isTesting && <TestMailDialog close={() => setTesting(false)} />}
    </>
  );
}
