import { useEffect, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { AskDialog, type Question } from './ask-dialog.tsx';
import { useDrop } from './drop-target.tsx';
import { type Entry, EntryRow } from './entry-row.tsx';
import { FailureCard } from './failure-card.tsx';
import { FolderTools } from './folder-tools.tsx';
import { addressOf, createFolder, remove, rename } from './link-api.ts';
import type { Uploads } from './uploads.ts';
import { useFolder, type Wanted } from './use-folder.ts';
import { Waiting } from './waiting.tsx';

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly path: readonly string[];
  readonly uploads: Uploads;
  readonly ended: () => void;
}

const asksAgain = ['signInNeeded', 'linkUnknown', 'linkEnded', 'notAdmitted', 'addressRefused'];

const newFolderQuestion = (path: readonly string[]): Question => ({
  title: 'New folder',
  text: '',
  value: '',
  action: 'Make it',
  loss: false,
  run: (name) => createFolder([...path, name]),
});
const renameQuestion = (path: readonly string[], { name }: Entry): Question => ({
  title: `Rename ${name}`,
  text: '',
  value: name,
  action: 'Rename',
  loss: false,
  run: (next) => rename([...path, name], next),
});
const removeQuestion = (path: readonly string[], { name, folder }: Entry): Question => ({
  title: `Delete ${name}?`,
  text: folder
    ? 'The folder goes with all that is in it, for everybody. This cannot be undone.'
    : 'The file goes for everybody. This cannot be undone.',
  value: null,
  action: 'Delete',
  loss: true,
  run: () => remove([...path, name]),
});

function Empty({ searching, canUpload }: { searching: boolean; canUpload: boolean }) {
  return (
    <div class="empty">
      <Icon name="folder" size={32} />
      <p>{searching ? 'Nothing here has that in its name.' : 'This folder is empty.'}</p>
      {canUpload && !searching && <p class="quiet">Drop files on the page to put them here.</p>}
    </div>
  );
}

/** The files of a share. */
export function FolderView({ share, path, uploads, ended }: Properties) {
  const { can } = share;
  const [wanted, setWanted] = useState<Wanted>({ sortField: 'name', sortOrder: 'asc', searchWord: '' });
  const [version, setVersion] = useState(0);
  const [question, setQuestion] = useState<Question | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { listing, failure, loading, more, again } = useFolder(path, wanted, version + uploads.arrived);
  const take = (files: File[]) => uploads.add(files, path);
  const over = useDrop(can.upload && share.folder ? take : null);
  useEffect(() => setChosen(new Set()), [path]);
  useEffect(() => {
    if (failure && asksAgain.includes(failure.code)) ended();
  }, [failure]);

  const choose = (name: string) =>
    setChosen((known) => new Set(known.has(name) ? [...known].filter((one) => one !== name) : [...known, name]));
  const zip = `${addressOf('zip', path)}?${new URLSearchParams([...chosen].map((name) => ['name', name]))}`;
  return (
    <>
      <FolderTools
        share={share}
        path={path}
        wanted={wanted}
        want={(over) => setWanted({ ...wanted, ...over })}
        take={take}
        newFolder={() => setQuestion(newFolderQuestion(path))}
      />
      {failure && <FailureCard failure={failure} again={again} leave={null} />}
      {!failure && !listing && <Waiting />}
      {listing && listing.entries.length === 0 && !loading && <Empty searching={wanted.searchWord !== ''} canUpload={can.upload} />}
      {listing && listing.entries.length > 0 && (
        <ul class="rows" aria-busy={loading}>
          {listing.entries.map((entry) => (
            <EntryRow
              key={entry.name}
              entry={entry}
              path={share.folder ? [...path, entry.name] : []}
              can={share.folder ? can : { ...can, rename: false, delete: false }}
              chosen={can.downloadFolder && share.folder ? chosen.has(entry.name) : null}
              choose={choose}
              rename={(one) => setQuestion(renameQuestion(path, one))}
              remove={(one) => setQuestion(removeQuestion(path, one))}
            />
          ))}
        </ul>
      )}
      {listing && listing.entries.length < listing.totalCount && (
        <button type="button" class="button more" onClick={more} disabled={loading}>
          {`Show more (${(listing.totalCount - listing.entries.length).toLocaleString()} left)`}
        </button>
      )}
      {chosen.size > 0 && (
        <div class="choice-bar">
          <span>{`${chosen.size} chosen`}</span>
          <button type="button" class="link-button" onClick={() => setChosen(new Set())}>
            None
          </button>
          <a class="button primary" href={zip} download>
            <Icon name="download" /> Download as zip
          </a>
        </div>
      )}
      {over && (
        <div class="drop-over" role="status">
          <Icon name="upload" size={32} />
          <p>Drop to upload here</p>
        </div>
      )}
      {question && (
        <AskDialog
          question={question}
          close={(changed) => {
            setQuestion(null);
            if (changed) setVersion(version + 1);
          }}
        />
      )}
    </>
  );
}
