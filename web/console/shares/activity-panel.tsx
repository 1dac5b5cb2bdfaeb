import { Anchor, Paper, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DayChart } from '#console/activity/day-chart.tsx';
import { post } from '#console/api/call.ts';
import { formatNumber, formats } from '#console/components/format.ts';
import { RelativeTime } from '#console/components/times.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import { millisecondsPerDay } from '#core/instant.ts';
import type { Share } from '#core/records/share.ts';
import type { ResponseOf } from '#features/operation-types.ts';

type Activity = ResponseOf<'share/activity'>;

const days = 30;
const maxRows = 50;
const maxVisitors = 1000; // the server returns at most this many visitors
const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** Returns the start of the last 30 days in UTC, including today: the days that DayChart shows. */
const periodStart = () => new Date((Math.floor(Date.now() / millisecondsPerDay) - (days - 1)) * millisecondsPerDay).toISOString();

/** Says how many rows a table leaves out. @param isMinimum there may be more rows than `total` */
const MoreRows = ({ total, isMinimum = false }: { total: number; isMinimum?: boolean }) =>
  total > maxRows && (
    <Text size="sm" c="dimmed">
      {isMinimum && 'At least '}
      {formatNumber(total - maxRows)} more
    </Text>
  );

const Visitors = ({ visitors }: { visitors: Activity['byVisitor'] }) => (
  <>
    <Table.ScrollContainer minWidth={300}>
      <Table
        data={{
          head: ['Visitor', 'Visits', 'Downloads', 'Last opened'],
          body: visitors
            .slice(0, maxRows)
            .map(({ visitor, visits, downloads, lastDateTime }) => [
              visitor || 'Anonymous',
              formatNumber(visits),
              formatNumber(downloads),
              <RelativeTime key="last" at={lastDateTime} />,
            ]),
        }}
      />
    </Table.ScrollContainer>
    <MoreRows total={visitors.length} isMinimum={visitors.length >= maxVisitors} />
  </>
);

/** Returns a sentence that lists who has not opened the share: up to 50 names, and the number of the others. */
function notOpenedText(names: readonly string[]): string {
  const more = names.length - maxRows;
  const items = [...names.slice(0, maxRows), ...(more > 0 ? [`${more} more`] : [])];
  return `Have not opened the share in the last ${days} days: ${list.format(items)}.`;
}

/** The unfinished uploads in parts. Shows nothing if there are none. */
function UnfinishedUploads({ id }: { id: number }) {
  const { data } = useQuery({ queryKey: ['share', 'unfinishedUploads', id], queryFn: () => post('share/unfinishedUploads', { id }) });
  if (!data || data.list.length === 0) return null;
  return (
    <>
      <Title order={3} size="h5" mt="sm">
        Unfinished uploads
      </Title>
      <Table.ScrollContainer minWidth={300}>
        <Table
          data={{
            head: ['File', 'Visitor', 'Received', 'Expires'],
            body: data.list
              .slice(0, maxRows)
              .map(({ path, visitor, size, received, expiresDateTime }) => [
                path,
                visitor || 'Anonymous',
                `${Math.floor((received / Math.max(1, size)) * 100)} % of ${formats.size(size)}`,
                <RelativeTime key="expires" at={expiresDateTime} />,
              ]),
          }}
        />
      </Table.ScrollContainer>
      <MoreRows total={data.totalCount} />
    </>
  );
}

/** Who has opened the share, who has not, its activity by day, and its unfinished uploads. */
export function ActivityPanel({ share: { id } }: { share: Share }) {
  const isAdmin = useHasRole('admin');
  const { data, error, refetch } = useQuery({
    queryKey: ['share', 'activity', id],
    queryFn: () => post('share/activity', { id, fromDate: periodStart() }),
  });
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="share-activity">
      <Title order={2} size="h4" id="share-activity">
        Activity
      </Title>
      {error && <LoadError error={error} reset={() => void refetch()} />}
      {data && (
        <>
          <DayChart byDay={data.byDay} days={days} />
          {data.byVisitor.length > 0 ? (
            <Visitors visitors={data.byVisitor} />
          ) : (
            <Text c="dimmed">Nobody has opened this share in the last {days} days.</Text>
          )}
          {data.notVisited.length > 0 && <Text mt="sm">{notOpenedText(data.notVisited)}</Text>}
        </>
      )}
      <UnfinishedUploads id={id} />
      {isAdmin && (
        <Anchor component={Link} to={`/activity?share=${id}`} size="sm">
          Show in the audit log
        </Anchor>
      )}
    </Paper>
  );
}
