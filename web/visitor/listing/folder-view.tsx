import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { AskDialog, type Question } from '#visitor/ask-dialog.tsx';
import { FailureBar, FailureCard } from '#visitor/failure-card.tsx';
import { addressOfFolder, type Place } from '#visitor/folder-address.ts';
import { useDrop } from '#visitor/upload/drop-target.tsx';
import type { Upload, Uploads } from '#visitor/upload/uploads.ts';
import { Waiting } from '#visitor/waiting.tsx';
import { useSpeech } from '#visitor/words/speech.ts';
import { ChoiceBar } from './choice-bar.tsx';
import { FolderTools } from './folder-tools.tsx';
import { newFolderQuestion, removeQuestion, renameQuestion } from './questions.ts';
import { Rows } from './rows.tsx';
import { type Entry, useFolder, type Wanted } from './use-folder.ts';

const LookAt = lazy(() => import('#visitor/look/look-at.tsx').then(({ LookAt }) => LookAt));

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly place: Place;
  /** Raised with everything that makes the folder another: it is asked for again. */
  readonly version: number;
  readonly uploads: Uploads;
  readonly refused: () => void;
}

const asksAgain = ['signInNeeded', 'linkUnknown', 'linkEnded', 'notAdmitted', 'addressRefused'];

function Empty({ searching, canUpload }: { searching: boolean; canUpload: boolean }) {
  const { say } = useSpeech();
  return (
    <div class="empty">
      <Icon name="folder" size={32} />
      <p>{say(searching ? 'nothingFound' : 'folderEmpty')}</p>
      {canUpload && !searching && <p class="quiet">{say('dropHere')}</p>}
    </div>
  );
}

/** The files of a share. */
export function FolderView({ share, place, version, uploads, refused }: Properties) {
  const { say } = useSpeech();
  // Nothing is offered that would be refused: what is protected is handed out in no form yet.
  const can = share.copyProtect ? { ...share.can, view: false, download: false, downloadFolder: false } : share.can;
  const path = place.looking ? place.path.slice(0, -1) : place.path;
  const key = path.join('/');
  const [wanted, setWanted] = useState<Wanted>({ sortField: 'name', sortOrder: 'asc', searchWord: '' });
  const [changes, setChanges] = useState(0);
  const [question, setQuestion] = useState<Question | null>(null);
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map());
  const folder = useFolder(path, wanted, version + changes);
  const { total, failure } = folder;
  const take = useMemo(
    () => (can.upload && share.folder ? (files: readonly Upload[]) => uploads.add(files, path) : null),
    [key, can.upload],
  );
  const shared = folder.at(0);
  const replace =
    !share.folder && can.upload && can.delete && shared
      ? ([one]: readonly Upload[]) => one && uploads.replaceShared(one.file, shared.etag)
      : null;
  const over = useDrop(take);
  useEffect(() => setChosen(new Map()), [key]);
  useEffect(() => setWanted((before) => ({ ...before, searchWord: '' })), [key]);
  useEffect(() => {
    if (failure && asksAgain.includes(failure.code)) refused();
  }, [failure]);

  const doings = {
    can: share.folder ? can : { ...can, rename: false, delete: false },
    canChoose: can.downloadFolder && share.folder,
    choose({ name, size }: Entry) {
      const next = new Map(chosen);
      if (!next.delete(name)) next.set(name, size);
      setChosen(next);
    },
    rename: (entry: Entry) => setQuestion(renameQuestion(say, path, entry)),
    remove: (entry: Entry) => setQuestion(removeQuestion(say, path, entry)),
  };
  const pathOf = (name: string) => (share.folder ? [...path, name] : []);
  const everything = () => new Map(folder.known().map(([, { name, size }]) => [name, size]));
  return (
    <>
      <FolderTools
        share={share}
        can={can}
        path={path}
        total={total}
        wanted={wanted}
        want={(over) => setWanted({ ...wanted, ...over })}
        take={take}
        replace={replace}
        newFolder={() => setQuestion(newFolderQuestion(say, path))}
      />
      {failure && total === null && <FailureCard failure={failure} again={folder.again} leave={null} within />}
      {failure && total !== null && <FailureBar failure={failure} again={folder.again} />}
      {!failure && total === null && <Waiting />}
      {total === 0 && !folder.loading && <Empty searching={wanted.searchWord !== ''} canUpload={can.upload} />}
      {total !== null && total > 0 && <Rows folder={folder} total={total} doings={doings} pathOf={pathOf} chosen={chosen} />}
      <ChoiceBar path={path} chosen={chosen} choose={chosen.size > 0 ? everything() : chosen} setChosen={setChosen} />
      {over && (
        <div class="drop-over" role="status">
          <Icon name="upload" size={32} />
          <p>{say('dropToUpload')}</p>
        </div>
      )}
      {question && (
        <AskDialog
          question={question}
          close={(changed) => {
            setQuestion(null);
            if (changed) setChanges(changes + 1);
          }}
        />
      )}
      {place.looking && can.view && (
        <Suspense fallback={null}>
          <LookAt name={place.path.at(-1) ?? ''} folderPath={path} pathOf={pathOf} folder={folder} can={can} back={addressOfFolder(path)} />
        </Suspense>
      )}
    </>
  );
}
