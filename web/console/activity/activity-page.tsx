import { Anchor, Button, Code, Menu, Select, Text, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { get, type Page, type Query } from '#console/api/call.ts';
import { EmptyState } from '#console/records/empty.tsx';
import { formats } from '#console/records/format.ts';
import { useListState } from '#console/records/list-state.ts';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordList } from '#console/records/record-list.tsx';
import type { Column } from '#console/records/record-table.tsx';
import { StateLabel } from '#console/records/state-word.tsx';
import type { AuditEntry } from '#core/records/audit-entry.ts';
import { actionChoices, actionLabel } from './action-words.ts';
import { ChangedFields } from './difference.tsx';

const load = (query: Query, signal: AbortSignal) =>
  // The newest first, where nothing else is asked for.
  get<Page<AuditEntry>>('audit/search', { sortOrder: 'desc', ...query, ...(query['sortField'] ? {} : { sortOrder: 'desc' }) }, signal);

const outcomes = {
  done: { word: 'Done', tone: 'good' },
  refused: { word: 'Refused', tone: 'bad' },
  failed: { word: 'Failed', tone: 'bad' },
  begun: { word: 'Under way', tone: 'waiting' },
} as const;

function ActionCell({ row }: { row: AuditEntry }) {
  return (
    <>
      {actionLabel(row.action)}
      {row.count > 1 && ` (${row.count} times)`}
      {row.path && (
        <span className="second">
          <Code>{row.path}</Code>
          {row.bytes !== null && ` ${formats.size(row.bytes)}`}
        </span>
      )}
      <ChangedFields before={row.before} after={row.after} />
    </>
  );
}

const columns: readonly Column<AuditEntry>[] = [
  {
    name: 'When',
    sort: 'dateTime',
    cell: ({ dateTime }) => (
      <time dateTime={dateTime} className="number" title={formats.exact(dateTime)}>
        {formats.end(dateTime).moment}
      </time>
    ),
  },
  {
    name: 'Who',
    sort: 'actor',
    cell: ({ actor, actorKind, address }) => (
      <>
        {actor || 'Somebody'}
        <span className="second">
          {actorKind} {address && `from ${address}`}
        </span>
      </>
    ),
  },
  { name: 'What', sort: 'action', cell: (row) => <ActionCell row={row} /> },
  {
    name: 'Share',
    sort: 'shareTitle',
    cell: ({ shareId, shareTitle }) =>
      shareId === null ? (
        ''
      ) : (
        <Anchor component={Link} to={`/shares/${shareId}`}>
          {shareTitle}
        </Anchor>
      ),
  },
  {
    name: 'Outcome',
    sort: 'outcome',
    cell: ({ outcome }) => <StateLabel tone={outcomes[outcome].tone}>{outcomes[outcome].word}</StateLabel>,
  },
];

function Filters() {
  const { shown, show } = useListState();
  const showWho = (typed: string) => {
    const who = typed.trim() || undefined;
    if (who !== shown.who) show({ who });
  };
  return (
    <>
      <Select
        aria-label="What"
        placeholder="Anything"
        clearable
        searchable
        data={actionChoices}
        value={shown.action ?? null}
        onChange={(action) => show({ action: action ?? undefined })}
      />
      <Select
        aria-label="Outcome"
        placeholder="Any outcome"
        clearable
        data={Object.entries(outcomes).map(([value, { word }]) => ({ value, label: word }))}
        value={shown.outcome ?? null}
        onChange={(outcome) => show({ outcome: outcome ?? undefined })}
      />
      <TextInput
        aria-label="Who, exactly"
        placeholder="Who, exactly"
        key={shown.who ?? ''}
        defaultValue={shown.who ?? ''}
        onBlur={({ currentTarget }) => showWho(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && showWho(currentTarget.value)}
      />
      <DatePickerInput
        type="range"
        aria-label="Days"
        placeholder="Any day"
        clearable
        allowSingleDateInRange
        value={[shown.from ?? null, shown.to ?? null]}
        onChange={([from, to]) => show({ from: from ?? undefined, to: to ?? undefined })}
        clearButtonProps={{ 'aria-label': 'Any day' }}
      />
    </>
  );
}

/** What happened: found, filtered, and taken away as a file. */
export function ActivityPage() {
  const { shown, show } = useListState();
  const query = {
    shareId: shown.share,
    username: shown.who,
    action: shown.action,
    outcome: shown.outcome,
    // Days as the operator's own clock has them.
    fromDate: shown.from && new Date(`${shown.from}T00:00:00`).toISOString(),
    toDate: shown.to && new Date(`${shown.to}T23:59:59.999`).toISOString(),
  };
  const exportUrl = (format: string) => {
    const parameters = Object.entries({ ...query, searchWord: shown.q, format }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    return `/api/v1/audit/export?${new URLSearchParams(parameters)}`;
  };
  return (
    <>
      <PageHead title="Activity" lead="Everything that visitors, operators and programs did or were refused.">
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={exportUrl('csv')} download>
              What is listed, as CSV
            </Menu.Item>
            <Menu.Item component="a" href={exportUrl('ndjson')} download>
              What is listed, as NDJSON
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </PageHead>
      {shown.share && (
        <Text mb="sm">
          Of one share.{' '}
          <Anchor component="button" type="button" onClick={() => show({ share: undefined })}>
            Show all
          </Anchor>
        </Text>
      )}
      <RecordList
        kind="audit"
        of={['line', 'lines']}
        columns={columns}
        load={load}
        query={query}
        filters={<Filters />}
        nameOf={({ action }) => action}
        searchLabel="Find by who, address, share or path"
        empty={<EmptyState title="Nothing has happened yet" words="What anybody does here, or is refused, is written down." />}
      />
    </>
  );
}
