import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { FailureBar, FailureCard } from '#visitor/failure-card.tsx';
import { folderAddress, type PageAddress } from '#visitor/folder-address.ts';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import { type Prompt, PromptDialog } from '#visitor/prompt-dialog.tsx';
import { useReportFailure } from '#visitor/report-failure.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { useDrop } from '#visitor/upload/drop-target.tsx';
import type { Upload, Uploads } from '#visitor/upload/uploads.ts';
import { byTouch, useMedia } from '#visitor/use-media.ts';
import { LoadingRows } from '#visitor/waiting.tsx';
import { SelectionBar } from './choice-bar.tsx';
import { useDownloadCheck } from './download-check.ts';
import { FolderTools } from './folder-tools.tsx';
import { deletePrompt, newFolderPrompt, renamePrompt } from './prompts.ts';
import { useFocusPosition, useScrollPosition } from './restore-position.ts';
import { Rows } from './rows.tsx';
import { type FolderEntry, type ListQuery, useFolder } from './use-folder.ts';

const Preview = lazy(() => import('#visitor/preview/preview.tsx').then(({ Preview }) => Preview));

/** The sort order of the page, and the search with the folder that it belongs to. */
type QueryState = Omit<ListQuery, 'searchWord'> & { readonly search: { readonly key: string; readonly word: string } };

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly can: LinkPermissions;
  readonly address: PageAddress;
  /** Increases when the content of the folder may have changed. The folder is then loaded again. */
  readonly version: number;
  readonly uploads: Uploads;
}

const noPermissions: LinkPermissions = {
  ...{ view: false, download: false, downloadFolder: false },
  ...{ upload: false, createFolder: false, rename: false, delete: false },
};

function Empty({ isSearch, canUpload }: { isSearch: boolean; canUpload: boolean }) {
  const { translate } = useTranslation();
  const isTouch = useMedia(byTouch);
  return (
    <div class="empty">
      <Icon name="folder" size={32} />
      <p>{translate(isSearch ? 'nothingFound' : 'folderEmpty')}</p>
      {canUpload && !isSearch && <p class="quiet">{translate(isTouch ? 'chooseHere' : 'dropHere')}</p>}
    </div>
  );
}

/** The files of a share, with everything that can be done with them. */
export function FolderView({ share, can: allowed, address, version, uploads }: Properties) {
  const { translate } = useTranslation();
  const reportFailure = useReportFailure();
  const path = address.isPreview ? address.path.slice(0, -1) : address.path;
  const key = path.join('/');
  const [{ search, ...order }, setQueryState] = useState<QueryState>({
    sortField: 'name',
    sortOrder: 'asc',
    search: { key: '', word: '' },
  });
  // A search applies only to the folder in which it was typed.
  const listQuery: ListQuery = { ...order, searchWord: search.key === key ? search.word : '' };
  const [changes, setChanges] = useState(0);
  const [prompt, setPrompt] = useState<Prompt | null>(null);
  /** The sizes of the selected entries, by name. */
  const [selection, setSelection] = useState<ReadonlyMap<string, number>>(new Map());
  const folder = useFolder(path, listQuery, version + changes);
  const { total, failure } = folder;
  // A folder that could not be loaded may not exist: the page offers no actions on it.
  const can = failure && total === null ? noPermissions : allowed;
  const addFiles = useMemo(
    () => (can.upload && share.folder ? (files: readonly Upload[]) => uploads.add(files, path) : null),
    [key, can.upload],
  );
  const sharedFile = folder.at(0);
  const replace =
    !share.folder && can.upload && sharedFile
      ? ([upload]: readonly Upload[]) => upload && uploads.replaceShared(upload.file, sharedFile.etag)
      : null;
  const isDragging = useDrop(addFiles);
  useEffect(() => setSelection(new Map()), [key]);
  useEffect(() => {
    if (failure) reportFailure(failure);
  }, [failure]);
  const downloadFailure = useDownloadCheck();
  useScrollPosition(key, total !== null);
  useFocusPosition(key, changes, folder.loading);
  /** Whether the list was shown before the preview. The preview then closes with a step back in the browser history. */
  const wasListShown = useRef(!address.isPreview);
  if (!address.isPreview) wasListShown.current = true;

  const actions = {
    can,
    canSelect: can.downloadFolder,
    toggleSelection({ name, size }: FolderEntry) {
      const newSelection = new Map(selection);
      if (!newSelection.delete(name)) newSelection.set(name, size);
      setSelection(newSelection);
    },
    rename: (entry: FolderEntry) => setPrompt(deselectAfter(renamePrompt(translate, path, entry), entry)),
    remove: (entry: FolderEntry) => setPrompt(deselectAfter(deletePrompt(translate, path, entry), entry)),
  };
  /** Returns a prompt that also deselects the entry, because its name no longer exists afterwards. */
  function deselectAfter(entryPrompt: Prompt, { name }: FolderEntry): Prompt {
    const run = async (value: string) => {
      await entryPrompt.run(value);
      setSelection((before) => new Map([...before].filter(([selectedName]) => selectedName !== name)));
    };
    return { ...entryPrompt, run };
  }
  const pathOf = (name: string) => (share.folder ? [...path, name] : []);
  return (
    <>
      <FolderTools
        share={share}
        can={can}
        path={path}
        total={total}
        listQuery={listQuery}
        changeQuery={({ searchWord, ...newOrder }) =>
          setQueryState({ ...order, search: searchWord === undefined ? search : { key, word: searchWord }, ...newOrder })
        }
        onFiles={addFiles}
        replace={replace}
        newFolder={() => setPrompt(newFolderPrompt(translate, path))}
      />
      {failure && total === null && <FailureCard failure={failure} retry={folder.reload} onSignOut={null} embedded />}
      {failure && total !== null && <FailureBar failure={failure} retry={folder.reload} />}
      {!failure && total === null && <LoadingRows />}
      {downloadFailure && <FailureBar failure={downloadFailure} retry={null} />}
      {total === 0 && !folder.loading && <Empty isSearch={listQuery.searchWord !== ''} canUpload={can.upload} />}
      {total !== null && total > 0 && <Rows folder={folder} total={total} actions={actions} pathOf={pathOf} selection={selection} />}
      <SelectionBar path={path} listQuery={listQuery} total={total ?? 0} selection={selection} setSelection={setSelection} />
      {isDragging && (
        <div class="drop-over" role="status">
          <Icon name="upload" size={32} />
          <p>{translate('dropToUpload')}</p>
        </div>
      )}
      {prompt && (
        <PromptDialog
          prompt={prompt}
          close={(changed) => {
            setPrompt(null);
            if (changed) setChanges(changes + 1);
          }}
        />
      )}
      {address.isPreview && can.view && (
        <Suspense fallback={null}>
          <Preview
            name={address.path.at(-1) ?? ''}
            folderPath={path}
            pathOf={pathOf}
            folder={folder}
            can={can}
            closeAddress={wasListShown.current ? null : folderAddress(path)}
          />
        </Suspense>
      )}
    </>
  );
}
