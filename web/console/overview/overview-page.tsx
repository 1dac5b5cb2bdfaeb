import { Alert, Anchor, Button, List, Paper, Skeleton, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { DayChart } from '#console/activity/day-chart.tsx';
import { formatCount } from '#console/components/format.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { StateLabel } from '#console/components/state-label.tsx';
import { RelativeTime } from '#console/components/times.tsx';
import { expiryWarning } from '#console/settings/signature-expiry.ts';
import { useCaller, useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { ResponseOf } from '#features/operation-types.ts';
import { useOverview } from './use-overview.ts';

type Overview = ResponseOf<'overview/get'>;

const refreshInterval = 60_000; // ms

function ExpiringShares({ shares }: { shares: Overview['endingSoon'] }) {
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="expiring">
      <Title order={2} size="h4" id="expiring">
        Expiring soon
      </Title>
      {shares.length === 0 ? (
        <Text c="dimmed">No share expires within two weeks.</Text>
      ) : (
        <Table
          data={{
            head: ['Share', 'Expires'],
            body: shares.map(({ id, title, validityEndDate }) => [
              <Anchor key="share" component={Link} to={`/shares/${id}`}>
                {title}
              </Anchor>,
              <RelativeTime key="expires" at={validityEndDate} />,
            ]),
          }}
        />
      )}
    </Paper>
  );
}

const storeNames: Readonly<Record<string, string>> = { sqlite: 'SQLite, embedded', postgres: 'PostgreSQL' };

function Health({ overview: { store, locations, mail, mailsWaiting, mailsFailed, signatureValidTo } }: { overview: Overview }) {
  const warning = expiryWarning(signatureValidTo, Date.now());
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="health">
      <Title order={2} size="h4" id="health">
        Health
      </Title>
      <List listStyleType="none" spacing={6}>
        <List.Item>
          <StateLabel tone="good">{`Database: ${storeNames[store] ?? store}`}</StateLabel>
        </List.Item>
        {locations.map(({ id, name, answers }) => (
          <List.Item key={id}>
            <StateLabel tone={answers ? 'good' : 'bad'}>{`Location ${name}${answers ? ' is available' : ' is not available'}`}</StateLabel>
          </List.Item>
        ))}
        <List.Item>
          <StateLabel tone={mail ? 'good' : 'waiting'}>{mail ? 'E-mail: on' : 'E-mail: no mail server is configured'}</StateLabel>
          {mailsWaiting > 0 && <span className="second">{formatCount(mailsWaiting, 'e-mail is waiting', 'e-mails are waiting')}</span>}
          {mailsFailed > 0 && <span className="second">{formatCount(mailsFailed, 'e-mail failed', 'e-mails failed')}</span>}
        </List.Item>
        {warning && (
          <List.Item>
            <StateLabel tone="bad">{warning}</StateLabel>
          </List.Item>
        )}
      </List>
    </Paper>
  );
}

/** The start page of the console: activity, expiring shares and health. */
export function OverviewPage() {
  const { name } = useCaller();
  const isEditor = useHasRole('editor');
  const { data, error, refetch } = useOverview(refreshInterval);
  if (error && !data) return <LoadError error={error} reset={() => void refetch()} />;
  const unavailable = data?.locations.filter(({ answers }) => !answers) ?? [];
  return (
    <>
      <PageHead title="Overview" lead={`Signed in as ${name}.`}>
        {isEditor && (
          <Button component={Link} to="/shares/new" leftSection={<Plus size={18} aria-hidden />}>
            Create share
          </Button>
        )}
      </PageHead>
      {unavailable.length > 0 && (
        <Alert
          color="red"
          role="alert"
          title={unavailable.length === 1 ? 'A location is not available' : 'Locations are not available'}
          mb="md"
        >
          {unavailable.map((location) => location.name).join(', ')}: while a location is not available, visitors cannot open its files. An
          admin can test a location on its page.
        </Alert>
      )}
      <Paper withBorder className="panel" component="section" aria-labelledby="days">
        <Title order={2} size="h4" id="days">
          Last 30 days
        </Title>
        {data ? <DayChart byDay={data.byDay} /> : <Skeleton height={160} />}
      </Paper>
      {data && (
        <div className="beside">
          <ExpiringShares shares={data.endingSoon} />
          <Health overview={data} />
        </div>
      )}
    </>
  );
}
