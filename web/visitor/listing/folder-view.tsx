import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { FailureBar, FailureCard } from '#visitor/failure-card.tsx';
import { addressOfFolder, type Place } from '#visitor/folder-address.ts';
import type { Can } from '#visitor/offered.ts';
import { AskDialog, type Question } from '#visitor/prompt-dialog.tsx';
import { useRefused } from '#visitor/refused.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { useDrop } from '#visitor/upload/drop-target.tsx';
import type { Upload, Uploads } from '#visitor/upload/uploads.ts';
import { byTouch, useMedia } from '#visitor/use-media.ts';
import { Waiting } from '#visitor/waiting.tsx';
import { ChoiceBar } from './choice-bar.tsx';
import { useDownloadCheck } from './download-check.ts';
import { FolderTools } from './folder-tools.tsx';
import { newFolderQuestion, removeQuestion, renameQuestion } from './prompts.ts';
import { useFocusPosition, useScrollPosition } from './restore-position.ts';
import { Rows } from './rows.tsx';
import { type Entry, useFolder, type Wanted } from './use-folder.ts';

const LookAt = lazy(() => import('#visitor/preview/preview.tsx').then(({ LookAt }) => LookAt));

type Sought = Omit<Wanted, 'searchWord'> & { readonly sought: { readonly key: string; readonly word: string } };

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly can: Can;
  readonly place: Place;
  /** Raised with everything that makes the folder another: it is asked for again. */
  readonly version: number;
  readonly uploads: Uploads;
}

const nothingCan: Can = {
  ...{ view: false, download: false, downloadFolder: false },
  ...{ upload: false, createFolder: false, rename: false, delete: false },
};

function Empty({ searching, canUpload }: { searching: boolean; canUpload: boolean }) {
  const { say } = useSpeech();
  const touched = useMedia(byTouch);
  return (
    <div class="empty">
      <Icon name="folder" size={32} />
      <p>{say(searching ? 'nothingFound' : 'folderEmpty')}</p>
      {canUpload && !searching && <p class="quiet">{say(touched ? 'chooseHere' : 'dropHere')}</p>}
    </div>
  );
}

/** The files of a share. */
export function FolderView({ share, can: allowed, place, version, uploads }: Properties) {
  const { say } = useSpeech();
  const refused = useRefused();
  const path = place.looking ? place.path.slice(0, -1) : place.path;
  const key = path.join('/');
  const [{ sought, ...order }, setWanted] = useState<Sought>({ sortField: 'name', sortOrder: 'asc', sought: { key: '', word: '' } });
  // A word is looked for in the folder it was typed in, and in no other.
  const wanted: Wanted = { ...order, searchWord: sought.key === key ? sought.word : '' };
  const [changes, setChanges] = useState(0);
  const [question, setQuestion] = useState<Question | null>(null);
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map());
  const folder = useFolder(path, wanted, version + changes);
  const { total, failure } = folder;
  // What cannot be seen may be gone: nothing is put into it.
  const can = failure && total === null ? nothingCan : allowed;
  const take = useMemo(
    () => (can.upload && share.folder ? (files: readonly Upload[]) => uploads.add(files, path) : null),
    [key, can.upload],
  );
  const shared = folder.at(0);
  const replace =
    !share.folder && can.upload && shared ? ([one]: readonly Upload[]) => one && uploads.replaceShared(one.file, shared.etag) : null;
  const over = useDrop(take);
  useEffect(() => setChosen(new Map()), [key]);
  useEffect(() => {
    if (failure) refused(failure);
  }, [failure]);
  const notTaken = useDownloadCheck();
  useScrollPosition(key, total !== null);
  useFocusPosition(key, changes, folder.loading);
  const wasListed = useRef(!place.looking);
  if (!place.looking) wasListed.current = true;

  const doings = {
    can,
    canChoose: can.downloadFolder,
    choose({ name, size }: Entry) {
      const next = new Map(chosen);
      if (!next.delete(name)) next.set(name, size);
      setChosen(next);
    },
    rename: (entry: Entry) => setQuestion(unchoosing(renameQuestion(say, path, entry), entry)),
    remove: (entry: Entry) => setQuestion(unchoosing(removeQuestion(say, path, entry), entry)),
  };
  /** What goes, or gets another name, is not chosen any more. */
  function unchoosing(asked: Question, { name }: Entry): Question {
    const run = async (value: string) => {
      await asked.run(value);
      setChosen((before) => new Map([...before].filter(([one]) => one !== name)));
    };
    return { ...asked, run };
  }
  const pathOf = (name: string) => (share.folder ? [...path, name] : []);
  return (
    <>
      <FolderTools
        share={share}
        can={can}
        path={path}
        total={total}
        wanted={wanted}
        want={({ searchWord, ...over }) =>
          setWanted({ ...order, sought: searchWord === undefined ? sought : { key, word: searchWord }, ...over })
        }
        take={take}
        replace={replace}
        newFolder={() => setQuestion(newFolderQuestion(say, path))}
      />
      {failure && total === null && <FailureCard failure={failure} again={folder.again} leave={null} within />}
      {failure && total !== null && <FailureBar failure={failure} again={folder.again} />}
      {!failure && total === null && <Waiting />}
      {notTaken && <FailureBar failure={notTaken} again={null} />}
      {total === 0 && !folder.loading && <Empty searching={wanted.searchWord !== ''} canUpload={can.upload} />}
      {total !== null && total > 0 && <Rows folder={folder} total={total} doings={doings} pathOf={pathOf} chosen={chosen} />}
      <ChoiceBar path={path} wanted={wanted} total={total ?? 0} chosen={chosen} setChosen={setChosen} />
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
          <LookAt
            name={place.path.at(-1) ?? ''}
            folderPath={path}
            pathOf={pathOf}
            folder={folder}
            can={can}
            back={wasListed.current ? null : addressOfFolder(path)}
          />
        </Suspense>
      )}
    </>
  );
}
