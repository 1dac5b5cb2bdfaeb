import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FilePlus2, Search, UserPlus } from 'lucide-react';
import { type ComponentProps, useEffect, useRef, useState } from 'react';
import { get } from '#console/api/call.ts';
import { signInKindLabels } from '#console/profiles/kinds.ts';
import { useHasRole } from './caller.ts';

const maxPerKind = 5;

/** Returns records that match a word, a few of each kind. */
async function findRecords(searchWord: string, signal: AbortSignal) {
  const query = { searchWord, pageSize: maxPerKind };
  const [shares, users, profiles] = await Promise.all([
    get('share/search', query, signal),
    get('accessuser/search', query, signal),
    get('loginprofile/search', { ...query, details: false }, signal),
  ]);
  return [
    ...shares.list.map(({ id, title, path }) => ({ to: `/shares/${id}`, label: title, description: `Share of ${path}` })),
    ...users.list.map(({ id, username, email }) => ({ to: `/users/${id}`, label: username, description: `Access user ${email}` })),
    ...profiles.list.map(({ id, title, typeString }) => ({
      to: `/profiles/${id}`,
      label: title,
      description: `Login profile, ${signInKindLabels[typeString]?.name ?? typeString}`,
    })),
  ];
}

type Go = (to: string) => () => void;

/** Returns the pages that an operator with these roles may open. */
function pageActions(go: Go, isEditor: boolean, isAdmin: boolean): SpotlightActionData[] {
  return [
    { id: 'overview', label: 'Overview', onClick: go('/') },
    { id: 'shares', label: 'Shares', onClick: go('/shares') },
    { id: 'users', label: 'Access users', onClick: go('/users') },
    { id: 'profiles', label: 'Login profiles', onClick: go('/profiles') },
    ...(isEditor ? [{ id: 'locations', label: 'Locations', onClick: go('/locations') }] : []),
    ...(isAdmin
      ? [
          { id: 'activity', label: 'Audit log', onClick: go('/activity') },
          { id: 'keys', label: 'API keys', onClick: go('/settings/keys') },
          { id: 'operators', label: 'Operators', onClick: go('/settings/operators') },
          { id: 'mail', label: 'Mail', onClick: go('/settings/mail') },
          { id: 'signatures', label: 'Signatures', onClick: go('/settings/signatures') },
          { id: 'policy', label: 'Policy', onClick: go('/settings/policy') },
        ]
      : []),
    { id: 'account', label: 'Your account', onClick: go('/settings/account') },
  ];
}

/** Returns the commands of an editor. */
function commandActions(go: Go): SpotlightActionData[] {
  return [
    { id: 'new-share', label: 'Create share', onClick: go('/shares/new'), leftSection: <FilePlus2 size={18} aria-hidden /> },
    { id: 'new-user', label: 'Add user', onClick: go('/users/new'), leftSection: <UserPlus size={18} aria-hidden /> },
    { id: 'import', label: 'Import users', onClick: go('/users/import'), leftSection: <UserPlus size={18} aria-hidden /> },
  ];
}

/** The command palette (Ctrl-K): searches pages, commands and records. */
export function CommandPalette() {
  const navigate = useNavigate();
  const [word, setWord] = useState('');
  const [debouncedWord] = useDebouncedValue(word.trim(), 150);
  const isEditor = useHasRole('editor');
  const isAdmin = useHasRole('admin');
  const go: Go = (to) => () => void navigate({ to });
  const { data: results = [], isPlaceholderData } = useQuery({
    queryKey: ['palette', debouncedWord],
    queryFn: ({ signal }) => findRecords(debouncedWord, signal),
    enabled: debouncedWord !== '',
    placeholderData: keepPreviousData,
  });
  // Enter must not open a result of an earlier word.
  const isCurrent = debouncedWord !== '' && debouncedWord === word.trim() && !isPlaceholderData;
  // If Enter was pressed before the response, open its first result when it arrives.
  const openFirstResult = useRef(false);
  const first = isCurrent ? results[0]?.to : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each response
  useEffect(() => {
    if (!openFirstResult.current || first === undefined) return;
    openFirstResult.current = false;
    spotlight.close();
    go(first)();
  }, [first]);
  const records = (isCurrent ? results : []).map(({ to, label, description }) => ({ id: to, label, description, onClick: go(to) }));
  return (
    <Spotlight
      query={word}
      onQueryChange={(typed) => {
        openFirstResult.current = false;
        setWord(typed);
      }}
      shortcut={['mod + K']}
      tagsToIgnore={[]}
      actions={[
        { group: 'Commands', actions: isEditor ? commandActions(go) : [] },
        { group: 'Pages', actions: pageActions(go, isEditor, isAdmin) },
        { group: 'Records', actions: records },
      ]}
      // Records are not filtered by label: the server also searches other fields.
      filter={(query, actions) => filterPagesAndCommands(query, actions)}
      scrollable
      attributes={{ content: { 'aria-label': 'Search or run a command' } }}
      maxHeight={420}
      nothingFound="No results"
      searchProps={{
        onKeyDown: (event) => {
          openFirstResult.current = event.key === 'Enter' && !runFirstUnlessSelected(event.currentTarget);
        },
        leftSection: <Search size={18} aria-hidden />,
        placeholder: 'Search or run a command',
        'aria-label': 'Search or run a command',
      }}
    />
  );
}

/** Runs the first entry of the palette, unless an entry is selected. @returns whether an entry runs */
function runFirstUnlessSelected(search: HTMLInputElement): boolean {
  const dialog = search.closest('[role="dialog"]');
  if (dialog?.querySelector('[data-selected]')) return true; // the palette itself runs the selected entry
  const first = dialog?.querySelector<HTMLElement>('[data-action]');
  first?.click();
  return Boolean(first);
}

type Groups = Parameters<NonNullable<ComponentProps<typeof Spotlight>['filter']>>[1];

function filterPagesAndCommands(query: string, groups: Groups): Groups {
  const word = query.trim().toLowerCase();
  return groups.flatMap((group) => {
    if (!('actions' in group)) return [];
    const actions = group.group === 'Records' ? group.actions : group.actions.filter(({ label }) => label?.toLowerCase().includes(word));
    return actions.length === 0 ? [] : [{ ...group, actions }];
  });
}
