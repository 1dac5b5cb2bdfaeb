import { Anchor, Button, Code, Menu, Select, Text, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { get, type Query } from '#console/api/call.ts';
import { EmptyState } from '#console/components/empty-state.tsx';
import { formats } from '#console/components/format.ts';
import { useListState } from '#console/components/list-state.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { StateLabel } from '#console/components/state-label.tsx';
import type { AuditEntry } from '#core/records/audit-entry.ts';
import { actionChoices, actionLabel } from './action-labels.ts';
import { ChangedFields } from './changed-fields.tsx';
import { TraceDialog } from './trace-dialog.tsx';

const load = (query: Query, signal: AbortSignal) =>
  // The newest entry first, unless another order is chosen.
  get('audit/search', { sortOrder: 'desc', ...query, ...(query['sortField'] ? {} : { sortOrder: 'desc' }) }, signal);

const outcomes = {
  done: { label: 'Done', tone: 'good' },
  refused: { label: 'Refused', tone: 'bad' },
  failed: { label: 'Failed', tone: 'bad' },
  begun: { label: 'In progress', tone: 'waiting' },
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
    name: 'Time',
    sort: 'dateTime',
    cell: ({ dateTime }) => (
      <time dateTime={dateTime} className="number" title={formats.exact(dateTime)}>
        {formats.moment(dateTime)}
      </time>
    ),
  },
  {
    name: 'Actor',
    sort: 'actor',
    cell: ({ actor, actorKind, address }) => (
      <>
        {actor || (actorKind === 'system' ? 'Command on the server' : 'Anonymous')}
        <span className="second">
          {actorKind} {address && `from ${address}`}
        </span>
      </>
    ),
  },
  { name: 'Action', sort: 'action', cell: (row) => <ActionCell row={row} /> },
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
    cell: ({ outcome }) => <StateLabel tone={outcomes[outcome].tone}>{outcomes[outcome].label}</StateLabel>,
  },
];

function Filters() {
  const { listState, setListState } = useListState();
  const filterByActor = (typed: string) => {
    const who = typed.trim() || undefined;
    if (who !== listState.who) setListState({ who });
  };
  return (
    <>
      <Select
        aria-label="Action"
        placeholder="Any action"
        clearable
        searchable
        data={actionChoices}
        value={listState.action ?? null}
        onChange={(action) => setListState({ action: action ?? undefined })}
      />
      <Select
        aria-label="Outcome"
        placeholder="Any outcome"
        clearable
        data={Object.entries(outcomes).map(([value, { label }]) => ({ value, label }))}
        value={listState.outcome ?? null}
        onChange={(outcome) => setListState({ outcome: outcome ?? undefined })}
      />
      <TextInput
        aria-label="Actor (exact name)"
        placeholder="Actor (exact name)"
        key={listState.who ?? ''}
        defaultValue={listState.who ?? ''}
        onBlur={({ currentTarget }) => filterByActor(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && filterByActor(currentTarget.value)}
      />
      <DatePickerInput
        type="range"
        aria-label="Days"
        placeholder="Any day"
        clearable
        allowSingleDateInRange
        value={[listState.from ?? null, listState.to ?? null]}
        onChange={([from, to]) => setListState({ from: from ?? undefined, to: to ?? undefined })}
        clearButtonProps={{ 'aria-label': 'Any day' }}
      />
    </>
  );
}

export function AuditLogPage() {
  const [isTracing, setTracing] = useState(false);
  const { listState, setListState } = useListState();
  const query = {
    shareId: listState.share,
    username: listState.who,
    action: listState.action,
    outcome: listState.outcome,
    // The days are in the time zone of the operator.
    fromDate: listState.from && new Date(`${listState.from}T00:00:00`).toISOString(),
    toDate: listState.to && new Date(`${listState.to}T23:59:59.999`).toISOString(),
  };
  const exportUrl = (format: string) => {
    const parameters = Object.entries({ ...query, searchWord: listState.q, format }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    return `/api/v1/audit/export?${new URLSearchParams(parameters)}`;
  };
  return (
    <>
      <PageHead
        title="Audit log"
        lead="All actions of visitors, all changes by operators, API keys and commands on the server, and refused sign-ins and visits."
      >
        <Button variant="default" onClick={() => setTracing(true)}>
          Trace a leaked file
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={exportUrl('csv')} download>
              Export as CSV
            </Menu.Item>
            <Menu.Item component="a" href={exportUrl('ndjson')} download>
              Export as NDJSON
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </PageHead>
      {isTracing && <TraceDialog close={() => setTracing(false)} />}
      {listState.share && (
        <Text mb="sm">
          Only entries of one share are shown.{' '}
          <Anchor component="button" type="button" onClick={() => setListState({ share: undefined })}>
            Show all entries
          </Anchor>
        </Text>
      )}
      <RecordList
        kind="audit"
        noun={['entry', 'entries']}
        columns={columns}
        load={load}
        query={query}
        filters={<Filters />}
        nameOf={({ action }) => action}
        searchLabel="Search by actor, IP address, action, share, path or reference"
        empty={<EmptyState title="No entries yet" text="Visitors’ actions and all changes are recorded here." />}
      />
    </>
  );
}
