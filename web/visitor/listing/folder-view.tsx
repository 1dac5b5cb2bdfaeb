import { lazy, Suspense } from 'preact/compat';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { FailureBar, FailureCard } from '#visitor/failure-card.tsx';
import { folderAddress, type PageAddress } from '#visitor/folder-address.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import { type Prompt, PromptDialog } from '#visitor/prompt-dialog.tsx';
import { useReportFailure } from '#visitor/report-failure.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { useDropTarget } from '#visitor/upload/drop-target.tsx';
import { QuotaNote } from '#visitor/upload/quota-note.tsx';
import type { FileToUpload } from '#visitor/upload/upload-item.ts';
import type { UploadQueue } from '#visitor/upload/upload-queue.ts';
import { touchQuery, useMedia } from '#visitor/use-media.ts';
import { useDownloadCheck } from './download-check.ts';
import { FolderTools } from './folder-tools.tsx';
import { useFocusPosition, useScrollPosition } from './restore-position.ts';
import { Rows, type RowsProperties } from './rows.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useEntryActions } from './use-entry-actions.ts';
import { type FolderEntry, useFolder } from './use-folder.ts';
import { useLayout } from './use-layout.ts';
import { useListQuery } from './use-list-query.ts';

const Grid = lazy(() => import('./grid.tsx').then(({ Grid }) => Grid));
const Preview = lazy(() => import('#visitor/preview/preview.tsx').then(({ Preview }) => Preview));

interface Properties {
  readonly share: NonNullable<Visit['share']>;
  readonly can: LinkPermissions;
  readonly address: PageAddress;
  /** Increases when the content of the folder may have changed. The folder is then loaded again. */
  readonly version: number;
  readonly uploads: UploadQueue;
}

const noPermissions: LinkPermissions = {
  ...{ onlyMarked: false, officePages: false, pageText: false, view: false, download: false, downloadFolder: false },
  ...{ upload: false, createFolder: false, rename: false, delete: false },
};

function Empty({ isSearch, canUpload }: { isSearch: boolean; canUpload: boolean }) {
  const { translate } = useTranslation();
  const isTouch = useMedia(touchQuery);
  return (
    <div class="empty">
      <Icon name="folder" size={32} />
      <p>{translate(isSearch ? 'nothingFound' : 'folderEmpty')}</p>
      {canUpload && !isSearch && <p class="muted">{translate(isTouch ? 'chooseFiles' : 'dropHere')}</p>}
    </div>
  );
}

/** Returns functions that upload files into the shown folder and replace the shared file. null: the action is not offered. */
function useUploadActions({ share, uploads }: Properties, can: LinkPermissions, path: readonly string[], sharedFile: FolderEntry | null) {
  const addFiles = useMemo(
    () => (can.upload && share.folder ? (files: readonly FileToUpload[]) => uploads.add(files, path) : null),
    [path.join('/'), can.upload],
  );
  const replace =
    !share.folder && can.upload && sharedFile
      ? ([upload]: readonly FileToUpload[]) => upload && uploads.replaceShared(upload.file, sharedFile.etag)
      : null;
  return { addFiles, replace };
}

function DropOverlay() {
  const { translate } = useTranslation();
  return (
    <div class="drop-over" role="status">
      <Icon name="upload" size={32} />
      <p>{translate('dropToUpload')}</p>
    </div>
  );
}

function Entries({ isGrid, ...properties }: RowsProperties & { readonly isGrid: boolean }) {
  if (!isGrid) return <Rows {...properties} />;
  return (
    <Suspense fallback={<LoadingRows />}>
      <Grid {...properties} />
    </Suspense>
  );
}

export function FolderView(properties: Properties) {
  const { share, can: allowed, address, version } = properties;
  const reportFailure = useReportFailure();
  const path = address.isPreview ? address.path.slice(0, -1) : address.path;
  const key = path.join('/');
  const { listQuery, changeQuery } = useListQuery(key);
  const [layout, setLayout] = useLayout();
  const [changes, setChanges] = useState(0);
  const folder = useFolder(path, listQuery, version + changes);
  const { total, failure } = folder;
  // Perhaps a folder that could not be loaded does not exist, so the page offers no actions on it.
  const can = failure && total === null ? noPermissions : allowed;
  const { addFiles, replace } = useUploadActions(properties, can, path, folder.at(0));
  const { actions, createFolder, prompt, closePrompt, selection, setSelection } = useEntryActions(path, can);
  const isDragging = useDropTarget(addFiles);
  useEffect(() => {
    if (failure) reportFailure(failure);
  }, [failure]);
  const downloadFailure = useDownloadCheck();
  useScrollPosition(key, total !== null);
  useFocusPosition(key, changes, folder.loading);
  /** Whether the list was shown before the preview. If so, the preview closes with a step back in the browser history. */
  const wasListShown = useRef(!address.isPreview);
  if (!address.isPreview) wasListShown.current = true;

  const pathOf = (name: string) => (share.folder ? [...path, name] : []);
  const close = (closed: Prompt, changed: boolean) => {
    closePrompt(closed);
    if (changed) setChanges(changes + 1);
  };
  const closeAddress = wasListShown.current ? null : folderAddress(path);
  return (
    <>
      <FolderTools
        share={share}
        can={can}
        path={path}
        total={total}
        listQuery={listQuery}
        changeQuery={changeQuery}
        onFiles={addFiles}
        replace={replace}
        newFolder={createFolder}
        layout={layout}
        setLayout={setLayout}
      />
      <QuotaNote quota={share.quota} version={version + changes} />
      {failure && total === null && <FailureCard failure={failure} retry={folder.reload} onSignOut={null} embedded />}
      {failure && total !== null && <FailureBar failure={failure} retry={folder.reload} />}
      {!failure && total === null && <LoadingRows />}
      {downloadFailure && <FailureBar failure={downloadFailure} retry={null} />}
      {total === 0 && !folder.loading && <Empty isSearch={listQuery.searchWord !== ''} canUpload={can.upload} />}
      {total !== null && total > 0 && (
        <Entries
          folder={folder}
          total={total}
          actions={actions}
          pathOf={pathOf}
          selection={selection}
          isGrid={share.folder && layout === 'grid'}
        />
      )}
      <SelectionBar path={path} listQuery={listQuery} total={total ?? 0} selection={selection} setSelection={setSelection} />
      {isDragging && <DropOverlay />}
      {prompt && <PromptDialog prompt={prompt} close={(changed) => close(prompt, changed)} />}
      {address.isPreview && can.view && (
        <Suspense fallback={null}>
          <Preview
            name={address.path.at(-1) ?? ''}
            folderPath={path}
            pathOf={pathOf}
            folder={folder}
            can={can}
            closeAddress={closeAddress}
          />
        </Suspense>
      )}
    </>
  );
}
