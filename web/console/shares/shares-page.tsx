import { Anchor, Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { Empty } from '#console/records/empty.tsx';
import { useListState } from '#console/records/list-state.ts';
import { Ago, Until } from '#console/records/moment.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordList } from '#console/records/record-list.tsx';
import type { Column } from '#console/records/record-table.tsx';
import { StateWord } from '#console/records/state-word.tsx';
import { useMay } from '#console/shell/who.ts';
import { shareStates } from '#core/records/share.ts';
import { activate, deactivate, deleteShares, newLink } from './share-actions.ts';
import { locationChoices, profileQuery, sharesWithVisits, type VisitedShare } from './share-queries.ts';
import { stateOf, stateWords } from './share-state.ts';
import { whoWords } from './who-words.ts';

const actions = [activate, deactivate, newLink, deleteShares];

function Title({ share: { id, title, location, path } }: { share: VisitedShare }) {
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

function State({ share }: { share: VisitedShare }) {
  const { word, tone } = stateWords[stateOf(share, Date.now())];
  return <StateWord tone={tone}>{word}</StateWord>;
}

const columns: readonly Column<VisitedShare>[] = [
  { name: 'Title', sort: 'title', cell: (share) => <Title share={share} /> },
  { name: 'State', cell: (share) => <State share={share} /> },
  { name: 'Who', cell: (share) => <Who share={share} /> },
  { name: 'Until', sort: 'validityEndDate', cell: ({ validityEndDate }) => <Until at={validityEndDate} /> },
  { name: 'Last opened', cell: ({ lastVisit }) => <Ago at={lastVisit} /> },
  { name: 'Changed', sort: 'updateDateTime', cell: ({ updateDateTime }) => <Ago at={updateDateTime} /> },
];

function Who({ share }: { share: VisitedShare }) {
  const { data: profile } = useQuery(profileQuery(share.authenticationId));
  return whoWords(share, profile?.title ?? 'its login profile');
}

function Filters() {
  const { shown, show } = useListState();
  const mayLocate = useMay('editor');
  const { data: locations = [] } = useQuery({ ...locationChoices, enabled: mayLocate });
  return (
    <>
      <Select
        aria-label="State"
        placeholder="Any state"
        clearable
        data={shareStates.map((state) => ({ value: state, label: stateWords[state].word }))}
        value={shown.state ?? null}
        onChange={(state) => show({ state: state ?? undefined })}
      />
      <ProfileSelect
        label="Login profile"
        placeholder="Any login profile"
        value={shown.profile}
        onChange={(profile) => show({ profile })}
      />
      {mayLocate && (
        <Select
          aria-label="Location"
          placeholder="Any location"
          clearable
          searchable
          limit={50}
          data={locations.map(({ name }) => name)}
          value={shown.location ?? null}
          onChange={(location) => show({ location: location ?? undefined })}
        />
      )}
    </>
  );
}

const AddButton = () => (
  <Button component={Link} to="/shares/new" leftSection={<Plus size={18} aria-hidden />}>
    New share
  </Button>
);

/** Every share: what one decides by, found among a million as among a hundred. */
export function SharesPage() {
  const { shown } = useListState();
  const mayEdit = useMay('editor');
  return (
    <>
      <PageHead title="Shares">{mayEdit && <AddButton />}</PageHead>
      <RecordList
        kind="share"
        of={['share', 'shares']}
        columns={columns}
        load={sharesWithVisits}
        query={{ state: shown.state, authId: shown.profile, location: shown.location }}
        filters={<Filters />}
        actions={mayEdit ? actions : []}
        nameOf={({ title }) => title}
        searchLabel="Find by title, path or link"
        empty={
          <Empty title="No shares yet" words="A share publishes a file or a folder by link, to those you choose.">
            {mayEdit && <AddButton />}
          </Empty>
        }
      />
    </>
  );
}
