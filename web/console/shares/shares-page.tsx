import { Anchor, Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { EmptyState } from '#console/components/empty-state.tsx';
import { useListState } from '#console/components/list-state.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordList } from '#console/components/record-list.tsx';
import type { Column } from '#console/components/record-table.tsx';
import { StateLabel } from '#console/components/state-label.tsx';
import { EndTime, RelativeTime } from '#console/components/times.tsx';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { shareStates } from '#core/records/share.ts';
import { accessSummary } from './access-summary.ts';
import { activate, deactivate, deleteShares, replaceLink } from './share-actions.ts';
import { locationChoices, profileQuery, type ShareWithLastVisit, searchSharesWithLastVisit } from './share-queries.ts';
import { stateLabels, stateOf } from './share-state.ts';

const actions = [activate, deactivate, replaceLink, deleteShares];

function Title({ share: { id, title, location, path } }: { share: ShareWithLastVisit }) {
  return (
    <>
      <Anchor component={Link} to={`/shares/${id}`} fw={550}>
        {title}
      </Anchor>
      <span className="second">
        {location}: {path}
      </span>
    </>
  );
}

function State({ share }: { share: ShareWithLastVisit }) {
  const { label, tone } = stateLabels[stateOf(share, Date.now())];
  return <StateLabel tone={tone}>{label}</StateLabel>;
}

const columns: readonly Column<ShareWithLastVisit>[] = [
  { name: 'Title', sort: 'title', cell: (share) => <Title share={share} /> },
  { name: 'State', cell: (share) => <State share={share} /> },
  { name: 'Access', cell: (share) => <Access share={share} /> },
  { name: 'Expires', sort: 'validityEndDate', cell: ({ validityEndDate }) => <EndTime at={validityEndDate} /> },
  { name: 'Last opened', cell: ({ lastVisit }) => <RelativeTime at={lastVisit} /> },
  { name: 'Modified', sort: 'updateDateTime', cell: ({ updateDateTime }) => <RelativeTime at={updateDateTime} /> },
];

function Access({ share }: { share: ShareWithLastVisit }) {
  const { data: profile } = useQuery(profileQuery(share.authenticationId));
  return accessSummary(share, profile?.title ?? 'its login profile');
}

function Filters() {
  const { listState, setListState } = useListState();
  const isEditor = useHasRole('editor');
  const { data: locations = [] } = useQuery({ ...locationChoices, enabled: isEditor });
  return (
    <>
      <Select
        aria-label="State"
        placeholder="Any state"
        clearable
        data={shareStates.map((state) => ({ value: state, label: stateLabels[state].label }))}
        value={listState.state ?? null}
        onChange={(state) => setListState({ state: state ?? undefined })}
      />
      <ProfileSelect
        label="Login profile"
        placeholder="Any login profile"
        value={listState.profile}
        onChange={(profile) => setListState({ profile })}
      />
      {isEditor && (
        <Select
          aria-label="Location"
          placeholder="Any location"
          clearable
          searchable
          limit={50}
          data={locations.map(({ name }) => name)}
          value={listState.location ?? null}
          onChange={(location) => setListState({ location: location ?? undefined })}
        />
      )}
    </>
  );
}

const AddButton = () => (
  <Button component={Link} to="/shares/new" leftSection={<Plus size={18} aria-hidden />}>
    Create share
  </Button>
);

export function SharesPage() {
  const { listState } = useListState();
  const isEditor = useHasRole('editor');
  return (
    <>
      <PageHead title="Shares">{isEditor && <AddButton />}</PageHead>
      <RecordList
        kind="share"
        noun={['share', 'shares']}
        columns={columns}
        load={searchSharesWithLastVisit}
        query={{ state: listState.state, authId: listState.profile, location: listState.location }}
        filters={<Filters />}
        actions={isEditor ? actions : []}
        nameOf={({ title }) => title}
        searchLabel="Search by title, path or link"
        empty={
          <EmptyState title="No shares yet" text="A share publishes a file or folder by link, to the visitors you choose.">
            {isEditor && <AddButton />}
          </EmptyState>
        }
      />
    </>
  );
}
