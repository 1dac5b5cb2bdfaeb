import { Anchor, Breadcrumbs, Button, Group, Skeleton, Text, TextInput, UnstyledButton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronRight, File, Folder } from 'lucide-react';
import { useState } from 'react';
import { asProblem, get } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { formats } from '#console/components/format.ts';
import type { ResponseOf } from '#features/operation-types.ts';

type FolderListing = ResponseOf<'location/browse'>;

export interface ChosenPath {
  readonly path: string;
  readonly folder: boolean;
}

const maxShown = 500;
const join = (path: string, name: string) => (path === '/' ? `/${name}` : `${path}/${name}`);

function FolderPath({ path, go, root }: { path: string; go: (path: string) => void; root: string }) {
  const names = path.split('/').filter(Boolean);
  return (
    <Breadcrumbs separator="/">
      <Anchor component="button" type="button" onClick={() => go('/')}>
        {root}
      </Anchor>
      {names.map((name, index) => {
        const to = `/${names.slice(0, index + 1).join('/')}`;
        return (
          <Anchor component="button" type="button" key={to} onClick={() => go(to)}>
            {name}
          </Anchor>
        );
      })}
    </Breadcrumbs>
  );
}

/** Moves the focus to the first entry if the focused entry was removed because another folder was opened. */
function focusFirst(list: HTMLUListElement | null): void {
  const hasLostFocus = document.activeElement === document.body || document.activeElement?.getAttribute('role') === 'dialog';
  if (list && hasLostFocus) list.querySelector('button')?.focus();
}

function Entries({
  listing,
  path,
  go,
  choose,
}: {
  listing: FolderListing;
  path: string;
  go: (path: string) => void;
  choose: (chosen: ChosenPath) => void;
}) {
  const [word, setWord] = useState('');
  const matches = listing.entries.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
  if (listing.entries.length === 0) return <Text c="dimmed">This folder is empty. You can share it anyway.</Text>;
  return (
    <>
      {listing.entries.length > 10 && (
        <TextInput
          aria-label="Search in this folder"
          placeholder="Search in this folder"
          mb="sm"
          value={word}
          onChange={({ currentTarget }) => setWord(currentTarget.value)}
        />
      )}
      <ul className="picker" ref={(list) => focusFirst(list)}>
        {matches.slice(0, maxShown).map(({ name, folder, size }) => (
          <li key={name}>
            <UnstyledButton onClick={() => (folder ? go(join(path, name)) : choose({ path: join(path, name), folder }))}>
              {folder ? <Folder size={18} aria-label="Folder" /> : <File size={18} aria-label="File" />}
              <span className="picker-name">{name}</span>
              {folder ? <ChevronRight size={16} aria-hidden /> : <span className="muted">{formats.size(size)}</span>}
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {matches.length > maxShown && <Text c="dimmed">Not all entries are shown. Search by name to find others.</Text>}
      {!listing.complete && (
        <Text c="dimmed">This folder is too large to list completely. If an entry is missing, close this dialog and type its path.</Text>
      )}
    </>
  );
}

/** Lets the operator browse a location and choose the file or folder to share. */
export function PathPicker({
  location,
  initialPath,
  choose,
  close,
}: {
  location: string;
  initialPath: string;
  choose: (chosen: ChosenPath) => void;
  close: () => void;
}) {
  const [path, go] = useState(initialPath);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['browse', location, path],
    queryFn: ({ signal }) => get('location/browse', { location, path }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Dialog onClose={close} title="Choose a file or folder" size="lg">
      <FolderPath path={path} go={go} root={location} />
      <div className="picker-place">
        {error && (
          <Text c="var(--danger)" role="alert">
            {asProblem(error).message}
          </Text>
        )}
        {!data && !error && <Skeleton height={160} />}
        {data && !error && (
          <fieldset disabled={isPlaceholderData} className="plain">
            <Entries key={isPlaceholderData ? '' : path} listing={data} path={path} go={go} choose={choose} />
          </fieldset>
        )}
      </div>
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button disabled={Boolean(error) || isPlaceholderData} onClick={() => choose({ path, folder: true })}>
          Share this folder
        </Button>
      </Group>
    </Dialog>
  );
}
